package account

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"tuval/internal/fault"
)

// Bounds of a password in bytes. The upper one only keeps nonsense out.
const (
	PasswordMin = 8
	PasswordMax = 1024
)

// Cost is what one hash of a password takes.
type Cost struct {
	MemoryKiB uint32
	Passes    uint32
	Lanes     uint8
}

// DefaultCost is the second recommended choice of RFC 9106, section 4, with
// two lanes: about a tenth of a second and 64 MiB.
func DefaultCost() Cost { return Cost{MemoryKiB: 64 * 1024, Passes: 3, Lanes: 2} }

const (
	saltBytes = 16
	keyBytes  = 32

	// hashesAtOnce bounds the memory that strangers can make us use.
	hashesAtOnce = 2

	// patience is how long a try waits for its turn.
	patience = 5 * time.Second
)

// hasher hashes and compares passwords, a few at a time.
type hasher struct {
	cost Cost
	turn chan struct{}
}

func newHasher(c Cost) *hasher { return &hasher{cost: c, turn: make(chan struct{}, hashesAtOnce)} }

// hash returns a password's hash in PHC form, with its salt and cost.
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	p := phc{cost: h.cost, salt: make([]byte, saltBytes)}
	rand.Read(p.salt)
	var err error
	if p.key, err = h.derive(ctx, password, p); err != nil {
		return "", err
	}
	return p.String(), nil
}

// matches reports whether a password has this hash, in a time that does not
// tell how close it came.
func (h *hasher) matches(ctx context.Context, password, hash string) (bool, error) {
	p, err := parsePHC(hash)
	if err != nil {
		return false, err
	}
	key, err := h.derive(ctx, password, p)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(key, p.key) == 1, nil
}

// nobodys is a hash that no password has and that costs as much as others.
func (h *hasher) nobodys() string {
	p := phc{cost: h.cost, salt: make([]byte, saltBytes), key: make([]byte, keyBytes)}
	rand.Read(p.salt)
	rand.Read(p.key)
	return p.String()
}

// derive waits for its turn. A password typed on another keyboard may be
// composed otherwise, so it is normalised.
func (h *hasher) derive(ctx context.Context, password string, p phc) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-ctx.Done():
		return nil, fault.Away("Many people are signing in at the moment. Please try again.", patience).Because(ctx.Err())
	}
	return argon2.IDKey([]byte(norm.NFC.String(password)), p.salt, p.cost.Passes, p.cost.MemoryKiB, p.cost.Lanes, keyBytes), nil
}

// phc is a hash in the form that password hashes are written in:
// $argon2id$v=19$m=65536,t=3,p=2$salt$key.
type phc struct {
	cost      Cost
	salt, key []byte
}

func (p phc) String() string {
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version,
		p.cost.MemoryKiB, p.cost.Passes, p.cost.Lanes, b64(p.salt), b64(p.key))
}

func parsePHC(s string) (phc, error) {
	var p phc
	var version int
	parts := strings.Split(s, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" {
		return p, errors.New("account: the stored hash of a password is not argon2id")
	}
	_, err := fmt.Sscanf(parts[2]+" "+parts[3], "v=%d m=%d,t=%d,p=%d", &version, &p.cost.MemoryKiB, &p.cost.Passes, &p.cost.Lanes)
	if err != nil || version != argon2.Version || p.cost.Passes == 0 || p.cost.Lanes == 0 {
		return p, errors.New("account: the stored hash of a password has unknown parameters")
	}
	var saltErr, keyErr error
	p.salt, saltErr = base64.RawStdEncoding.DecodeString(parts[4])
	p.key, keyErr = base64.RawStdEncoding.DecodeString(parts[5])
	if saltErr != nil || keyErr != nil || len(p.salt) == 0 || len(p.key) != keyBytes {
		return p, errors.New("account: the stored hash of a password is damaged")
	}
	return p, nil
}

// checkPassword refuses passwords that cannot be or should not be.
func checkPassword(password string) error {
	switch {
	case len(password) < PasswordMin:
		return fault.Field("password", fmt.Sprintf("The password must have at least %d characters.", PasswordMin))
	case len(password) > PasswordMax:
		return fault.Field("password", fmt.Sprintf("The password may have at most %d bytes.", PasswordMax))
	}
	return nil
}
