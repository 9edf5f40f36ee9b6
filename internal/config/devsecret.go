package config

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// DevSecret returns the secret of a development installation, kept in the
// file "secret" of its data directory so that tokens outlive a restart. It is
// made at the first call; of several processes that start at once, all get
// the same.
func DevSecret(dir string) (Secret, error) {
	path := filepath.Join(dir, "secret")
	if s, err := readSecret(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Secret{}, fmt.Errorf("config: make the data directory: %w", err)
	}
	if err := makeSecret(dir, path); err != nil {
		return Secret{}, err
	}
	return readSecret(path)
}

func readSecret(path string) (Secret, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return Secret{}, fmt.Errorf("config: read the development secret: %w", err)
	}
	if len(b) < secretBytes {
		return Secret{}, fmt.Errorf("config: the development secret in %s is cut off; remove the file to get a new one", path)
	}
	return NewSecret(string(b)), nil
}

// makeSecret writes a whole file under another name and links it into place:
// nobody ever reads half of it, and whoever is first wins.
func makeSecret(dir, path string) error {
	var b [secretBytes]byte
	rand.Read(b[:])
	f, err := os.CreateTemp(dir, "secret-*") // CreateTemp makes it 0600
	if err != nil {
		return fmt.Errorf("config: make the development secret: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(hex.EncodeToString(b[:]))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("config: write the development secret: %w", err)
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("config: keep the development secret: %w", err)
	}
	return nil
}
