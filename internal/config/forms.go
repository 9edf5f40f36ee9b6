package config

import (
	"fmt"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"strings"

	"tuval/internal/money"
)

func (r *reader) hostPort(name, value string) {
	if value == "" {
		return
	}
	_, port, err := net.SplitHostPort(value)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		r.wrong(name, "must be host:port, not %q", value)
	}
}

// webURL wants http or https and a host; an origin has nothing after it.
func (r *reader) webURL(name, value string, origin bool) {
	u, err := url.Parse(value)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "":
		r.wrong(name, "must be an address that begins with http:// or https://")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		r.wrong(name, "must not hold a user name, a query or a fragment")
	case origin && u.Path != "":
		r.wrong(name, "must end after the host; Tuval lives at the root of its host")
	}
}

// databaseURL looks at the form only, and never repeats the value: it may
// hold a password.
func (r *reader) databaseURL(value string) {
	if value == "" || strings.Contains(value, "=") && !strings.Contains(value, "://") {
		return // keyword=value form, for the driver to judge
	}
	if !strings.HasPrefix(value, "postgres://") && !strings.HasPrefix(value, "postgresql://") {
		r.wrong("DATABASE_URL", "must begin with postgres:// or be of the form host=... dbname=...")
	}
}

func (r *reader) smtpURL(value string) {
	if value == "" {
		return
	}
	u, err := url.Parse(value)
	if err != nil || (u.Scheme != "smtp" && u.Scheme != "smtps") || u.Hostname() == "" {
		r.wrong("SMTP_URL", "must be smtp://host:port or smtps://host:port, with user:password@ before the host if needed")
	}
}

func (r *reader) prefixes(name, help string) []netip.Prefix {
	var all []netip.Prefix
	for one := range strings.SplitSeq(r.raw(name, "", help), ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		p, err := prefix(one)
		if err != nil {
			r.wrong(name, "must be networks like 10.0.0.0/8 or fd00::/8, not %q", one)
			continue
		}
		all = append(all, p)
	}
	return all
}

// prefix reads a network, or one address as a network of its own.
func prefix(s string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(s); err == nil {
		addr = addr.Unmap().WithZone("")
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return p, fmt.Errorf("config: network: %w", err)
	}
	return p.Masked(), nil
}

func (r *reader) currency(name, def, help string) money.Currency {
	code := r.raw(name, def, help)
	c, ok := money.Lookup(code)
	if !ok {
		r.wrong(name, "%q is not supported; supported are %s", code, strings.Join(money.Codes(), ", "))
	}
	return c
}

func (r *reader) sender(name, help, host string) string {
	value := r.raw(name, "", help)
	if value == "" {
		return "Tuval <no-reply@" + mailHost(host) + ">"
	}
	if _, err := mail.ParseAddress(value); err != nil {
		r.wrong(name, "must be an address like Tuval <no-reply@tuval.example>, not %q", value)
	}
	return value
}

// mailHost is a host that can stand after an @: a number cannot.
func mailHost(host string) string {
	if _, err := netip.ParseAddr(host); err == nil || host == "" {
		return "localhost"
	}
	return host
}

func hostOf(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// isLoopback reports whether a host can only mean this machine. A name other
// than localhost could be answered with any address.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
