package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/term"

	"tuval/internal/account"
	"tuval/migrations"
)

const adminUsage = `tuval admin add EMAIL      create or re-enable an admin; reads the password
tuval admin token EMAIL    print a new API token, valid for a year
tuval admin tokens [EMAIL] list the tokens, of all admins or of one
tuval admin revoke ID      end a token
tuval admin disable EMAIL  end an admin's password, sessions and tokens`

func admin(ctx context.Context, w world, args []string) (err error) {
	if len(args) == 1 && args[0] == "tokens" {
		args = append(args, "")
	}
	if len(args) != 2 {
		return usage(w, adminUsage)
	}
	verbs := map[string]func(context.Context, world, *account.Admins, string) error{
		"add": adminAdd, "token": adminToken, "tokens": adminTokens, "revoke": adminRevoke, "disable": adminDisable,
	}
	verb, known := verbs[args[0]]
	if !known {
		return usage(w, adminUsage)
	}
	b, err := open(ctx, w)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if b.Config.Database.Migrate {
		if err := migrations.Apply(ctx, b.Pool); err != nil {
			return err
		}
	}
	return verb(ctx, w, account.NewAdmins(b.Pool, account.DefaultCost(), false), args[1])
}

func adminAdd(ctx context.Context, w world, admins *account.Admins, email string) error {
	password, err := readPassword(w)
	if err != nil {
		return err
	}
	a, err := admins.AddAdmin(ctx, email, password)
	if err != nil {
		return err
	}
	fmt.Fprintln(w.out, a.Email, "can sign in")
	return nil
}

// readPassword asks on a terminal without showing what is typed, else reads
// the first line of the input.
func readPassword(w world) (string, error) {
	if f, is := w.in.(*os.File); is && term.IsTerminal(int(f.Fd())) {
		fmt.Fprint(w.errors, "Password: ")
		typed, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(w.errors)
		return string(typed), err
	}
	line, err := bufio.NewReader(w.in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return strings.TrimRight(line, "\r\n"), nil
}

func adminToken(ctx context.Context, w world, admins *account.Admins, email string) error {
	token, err := admins.Token(ctx, email)
	if err != nil {
		return err
	}
	fmt.Fprintln(w.out, token)
	return nil
}

func adminTokens(ctx context.Context, w world, admins *account.Admins, email string) error {
	emails := []string{email}
	if email == "" {
		all, err := admins.All(ctx)
		if err != nil {
			return err
		}
		emails = nil
		for _, a := range all {
			emails = append(emails, a.Email)
		}
	}
	table := tabwriter.NewWriter(w.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tADMIN\tENDS IN\tCREATED\tVALID UNTIL\tLAST USED\tREVOKED")
	for _, email := range emails {
		tokens, err := admins.Tokens(ctx, email)
		if err != nil {
			return err
		}
		for _, t := range tokens {
			fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, email, t.Hint, day(&t.CreatedAt), day(&t.ExpiresAt), day(t.UsedAt), day(t.RevokedAt))
		}
	}
	return table.Flush()
}

// day writes an instant for a table, in UTC.
func day(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

func adminRevoke(ctx context.Context, w world, admins *account.Admins, id string) error {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return usage(w, "ID is a number from tuval admin tokens")
	}
	if err := admins.Revoke(ctx, n); err != nil {
		return err
	}
	fmt.Fprintln(w.out, "token", n, "is no longer valid")
	return nil
}

func adminDisable(ctx context.Context, w world, admins *account.Admins, email string) error {
	if err := admins.Disable(ctx, email); err != nil {
		return err
	}
	fmt.Fprintln(w.out, email, "can no longer sign in; sessions and tokens have ended")
	return nil
}
