package link

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// authority is a host and a port as they are written down.
type authority struct {
	host string // name in xn-- form, or an IP address without brackets
	port string // empty when it is the scheme's own
}

// String writes the authority for a URL.
func (a authority) String() string {
	host := a.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if a.port == "" {
		return host
	}
	return host + ":" + a.port
}

func parseAuthority(s, scheme string) (authority, error) {
	if strings.Contains(s, "@") {
		return authority{}, refuse("must not hold a user name or password (the part before an @)")
	}
	host, port, err := cutPort(s)
	if err != nil {
		return authority{}, err
	}
	if host == "" {
		return authority{}, refuse("has no host, as example.com in https://example.com")
	}
	if host, err = cleanHost(host); err != nil {
		return authority{}, err
	}
	if port, err = cleanPort(port, scheme); err != nil {
		return authority{}, err
	}
	return authority{host: host, port: port}, nil
}

// cutPort splits host and port; an IPv6 address keeps its brackets.
func cutPort(s string) (host, port string, err error) {
	end := strings.IndexByte(s, ']') + 1
	if strings.HasPrefix(s, "[") != (end > 0) {
		return "", "", refuse("has a broken IPv6 address; it needs [ and ]")
	}
	colon := strings.IndexByte(s[end:], ':')
	if colon < 0 {
		return s, "", nil
	}
	return s[:end+colon], s[end+colon+1:], nil
}

func cleanPort(port, scheme string) (string, error) {
	if port == "" {
		return "", nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || strings.HasPrefix(port, "+") {
		return "", refuse("has a wrong port; ports go from 1 to 65535")
	}
	if scheme == "https" && n == 443 || scheme == "http" && n == 80 {
		return "", nil
	}
	return strconv.FormatUint(n, 10), nil
}

func cleanHost(host string) (string, error) {
	if strings.HasPrefix(host, "[") {
		return cleanIP(strings.Trim(host, "[]"))
	}
	// A % in a host means different things to different browsers.
	if strings.ContainsAny(host, " %[]") {
		return "", refuse("has a host with a character that hosts cannot have")
	}
	ascii, err := hostProfile().ToASCII(strings.TrimSuffix(host, "."))
	if err != nil || strings.ContainsFunc(ascii, notHostByte) {
		return "", refuse("has a host that is not a domain name; names are at most 253 characters, labels 63")
	}
	if last := ascii[strings.LastIndexByte(ascii, '.')+1:]; numeric(last) {
		return cleanIP(ascii)
	}
	return ascii, checkPublicName(ascii)
}

// hostProfile maps as browsers do: case, width and composition vanish, names
// of other scripts become xn--, labels like r3---sn pass, "ß" stays itself.
func hostProfile() *idna.Profile {
	return idna.New(idna.MapForLookup(), idna.BidiRule(), idna.Transitional(false),
		idna.CheckHyphens(false), idna.StrictDomainName(false), idna.VerifyDNSLength(true))
}

func notHostByte(c rune) bool {
	return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_')
}

// numeric labels at the end make browsers read the whole host as an IPv4
// address, in any of its old spellings (0x7f.1, 2130706433).
func numeric(label string) bool {
	if _, err := strconv.ParseUint(label, 10, 64); err == nil {
		return true
	}
	hex, ok := strings.CutPrefix(label, "0x")
	if !ok {
		return strings.Trim(label, "0123456789") == ""
	}
	return strings.Trim(hex, "0123456789abcdef") == ""
}

func cleanIP(s string) (string, error) {
	ip, err := netip.ParseAddr(s)
	if err != nil || ip.Zone() != "" {
		return "", refuse("has a broken IP address; write it as 192.0.2.1 or [2001:db8::1]")
	}
	v4 := ip.Unmap()
	if !v4.IsGlobalUnicast() || v4.IsPrivate() || reserved(v4) {
		return "", refuse("leads to a private or local address that others cannot reach")
	}
	return ip.String(), nil
}

// reserved are blocks that netip takes for global but that lead nowhere
// public: this network, shared carrier space, and IPv4 inside IPv6.
func reserved(ip netip.Addr) bool {
	for _, block := range []string{"0.0.0.0/8", "100.64.0.0/10", "240.0.0.0/4", "64:ff9b::/96", "2002::/16", "::/96"} {
		if netip.MustParsePrefix(block).Contains(ip) {
			return true
		}
	}
	return false
}

func checkPublicName(host string) error {
	for _, zone := range []string{"localhost", "local", "internal", "home.arpa"} {
		if host == zone || strings.HasSuffix(host, "."+zone) {
			return refuse("leads to a private or local name that others cannot reach")
		}
	}
	if !strings.Contains(host, ".") {
		return refuse("needs a full host name with a dot, as in https://example.com")
	}
	return nil
}

// browserAgrees reads the finished URL with a second, independent parser: if
// the two disagree about the host, nobody should trust the link.
func browserAgrees(raw string, a authority) bool {
	u, err := url.Parse(raw)
	return err == nil && u.User == nil && u.Opaque == "" && u.Host == a.String() && u.Hostname() == a.host
}
