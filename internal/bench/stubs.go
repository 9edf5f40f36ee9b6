package main
import "context"
func waysSection(ctx context.Context, b *bench) (part, error) { return part{}, nil }
func clientsSection(ctx context.Context, b *bench) (part, error) { return part{}, nil }
func guardSection(ctx context.Context, b *bench) (part, error) { return part{}, nil }
