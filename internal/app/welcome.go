package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tuval/internal/account"
	"tuval/internal/ident"
)

// devAdmin is the admin that a development installation starts with.
const devAdmin = "admin@tuval.example"

// firstAdmin makes sure of the configured admin. A development installation
// without any gets one whose password is kept in the data directory, and the
// line that says so.
func (s *server) firstAdmin(ctx context.Context, admins *account.Admins) (string, error) {
	if a := s.Config.Admin; a.Email != "" {
		_, err := admins.EnsureAdmin(ctx, a.Email, a.Password.Reveal())
		return a.Email + ", with the password you set", err
	}
	if s.Config.Production() {
		return "", nil
	}
	password, err := devPassword(s.Config.Database.DataDir)
	if err != nil {
		return "", err
	}
	if _, err := admins.EnsureAdmin(ctx, devAdmin, password); err != nil {
		return "", err
	}
	return devAdmin + ", password " + password, nil
}

// devPassword reads or makes the password of a development installation.
func devPassword(dir string) (string, error) {
	path := filepath.Join(dir, "admin-password")
	kept, err := os.ReadFile(path)
	if err == nil && len(strings.TrimSpace(string(kept))) >= 8 {
		return strings.TrimSpace(string(kept)), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the admin's password: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the data directory: %w", err)
	}
	password := ident.New()[:12]
	if err := os.WriteFile(path, []byte(password+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("keep the admin's password: %w", err)
	}
	return password, nil
}

// greet says where everything is.
func (s *server) greet(admin string) {
	base := s.Config.HTTP.BaseURL
	fmt.Fprintf(s.out, "\n  Tuval is at    %s\n", base)
	if admin != "" {
		fmt.Fprintf(s.out, "  Admin          %s/admin  (%s)\n", base, admin)
	}
	if !s.Config.Production() && !s.Config.Mail.SMTP.IsSet() {
		fmt.Fprintf(s.out, "  Mails          %s/dev/mail\n", base)
	}
	if s.Config.Stripe.Simulated() {
		fmt.Fprintf(s.out, "  Payments       are simulated: no money moves\n")
	}
	fmt.Fprintf(s.out, "  Stop           Ctrl-C\n\n")
}
