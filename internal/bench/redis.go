package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tuval/internal/turnstile"
)

// wait is how long a private server may take to start.
const wait = 20 * time.Second

// redisServer is a private Redis on a socket.
type redisServer struct {
	cmd    *exec.Cmd
	dir    string
	socket string
}

// startRedis starts one; nil without an error when there is none on the
// machine. durable makes it write each script's effect to the disk before it
// answers, as PostgreSQL does.
func startRedis(ctx context.Context, durable bool) (*redisServer, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "tuval-redis-")
	if err != nil {
		return nil, err
	}
	s := &redisServer{dir: dir, socket: filepath.Join(dir, "redis.sock")}
	aof := map[bool]string{true: "yes", false: "no"}[durable]
	s.cmd = exec.Command(program, "--port", "0", "--unixsocket", s.socket, "--save", "", "--appendonly", aof,
		"--appendfsync", "always", "--dir", dir, "--daemonize", "no", "--loglevel", "warning")
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(wait); time.Now().Before(deadline) && ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("unix", s.socket); err == nil {
			c.Close()
			return s, nil
		}
	}
	s.stop()
	return nil, fmt.Errorf("redis-server did not start")
}

func (s *redisServer) stop() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	os.RemoveAll(s.dir)
}

// redisWay keeps the canvas in a hash: block -> "claim until". Redis runs one
// script at a time, so nothing can come between its look and its writes.
type redisWay struct{ conns chan *redisConn }

const redisClaim = `
local now = tonumber(redis.call('TIME')[1])
local names = {}
for y = ARGV[2], ARGV[3] do for x = ARGV[4], ARGV[5] do
  local name = y * 100 + x
  local v = redis.call('HGET', KEYS[1], name)
  if v then
    local c, till = string.match(v, '(%d+) (%d+)')
    if c ~= ARGV[1] and tonumber(till) > now then return 0 end
  end
  names[#names + 1] = name
end end
local value = ARGV[1] .. ' ' .. (now + 86400)
for _, name in ipairs(names) do redis.call('HSET', KEYS[1], name, value) end
return 1`

const redisRelease = `
local n = 0
for y = ARGV[2], ARGV[3] do for x = ARGV[4], ARGV[5] do
  local name = y * 100 + x
  local v = redis.call('HGET', KEYS[1], name)
  if v and string.match(v, '%d+') == ARGV[1] then n = n + redis.call('HDEL', KEYS[1], name) end
end end
return n`

func (s *redisServer) open(clients int) (*redisWay, error) {
	w := &redisWay{conns: make(chan *redisConn, clients)}
	for range clients {
		c, err := net.Dial("unix", s.socket)
		if err != nil {
			return nil, err
		}
		conn := &redisConn{Conn: c, in: bufio.NewReader(c), loaded: map[string]string{}}
		w.conns <- conn
	}
	return w, nil
}

func (w *redisWay) run(script string, l turnstile.Lease) (int, error) {
	c := <-w.conns
	defer func() { w.conns <- c }()
	sha, ok := c.loaded[script]
	if !ok {
		var err error
		if sha, err = c.call("SCRIPT", "LOAD", script); err != nil {
			return 0, err
		}
		c.loaded[script] = sha
	}
	r := l.Rect
	answer, err := c.call("EVALSHA", sha, "1", "blocks", strconv.FormatInt(int64(l.Claim), 10),
		strconv.Itoa(r.Y), strconv.Itoa(r.Y+r.H-1), strconv.Itoa(r.X), strconv.Itoa(r.X+r.W-1))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(answer)
}

func (w *redisWay) claim(_ context.Context, l turnstile.Lease) (bool, error) {
	n, err := w.run(redisClaim, l)
	return n == 1, err
}

func (w *redisWay) release(_ context.Context, l turnstile.Lease) (int, error) {
	return w.run(redisRelease, l)
}

func (w *redisWay) close() {
	for range cap(w.conns) {
		(<-w.conns).Close()
	}
}

// redisConn speaks as much of Redis's protocol as three scripts need.
type redisConn struct {
	net.Conn
	in     *bufio.Reader
	loaded map[string]string
}

func (c *redisConn) call(words ...string) (string, error) {
	var out strings.Builder
	fmt.Fprintf(&out, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&out, "$%d\r\n%s\r\n", len(w), w)
	}
	if _, err := io.WriteString(c, out.String()); err != nil {
		return "", err
	}
	line, err := c.in.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimSuffix(line, "\r\n")
	switch line[0] {
	case ':', '+':
		return line[1:], nil
	case '$':
		n, err := strconv.Atoi(line[1:])
		if err != nil {
			return "", err
		}
		text := make([]byte, n+2)
		_, err = io.ReadFull(c.in, text)
		return string(text[:n]), err
	}
	return "", fmt.Errorf("redis: %s", line)
}
