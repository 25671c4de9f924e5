package golden

import (
	"strconv"
	"strings"
	"time"

	"github.com/batchplan/batchplan/internal/line"
)

// Command is one command of a story. Its accessors end the test, with file and
// line, when a value does not have the requested form. An argument that no accessor
// has requested by the end of the command fails the test as unknown.
type Command struct {
	// Line is the line of the command. If the line has no input of its own, its Input holds the lines
	// up to "----", without the last newline.
	line.Line
	// Pos is the position of the command, as file:line.
	Pos string

	t    reporter
	used map[string]bool
	// inner are the commands that Within has parsed.
	inner []*Command
}

// reporter is the part of testing.TB that commands need. Fatalf does not return.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Failed() bool
}

// Fatalf ends the test with the command's position and a message.
func (c *Command) Fatalf(format string, args ...any) {
	c.t.Helper()
	c.t.Fatalf("%s: %s: "+format, append([]any{c.Pos, c.Name}, args...)...)
}

// Within parses a line of the command's input as a command at the same position.
func (c *Command) Within(text string) *Command {
	c.t.Helper()
	inner, err := parseCommand(text)
	if err != nil {
		c.Fatalf("%v", err)
	}
	inner.Pos, inner.t = c.Pos, c.t
	c.inner = append(c.inner, inner)
	return inner
}

// Decode reads the command's input into a value, see [line.Decode]. Without input the value stays as it
// is.
func (c *Command) Decode(into any) {
	c.t.Helper()
	if c.Input == "" {
		return
	}
	if err := line.Decode(c.Input, into); err != nil {
		c.Fatalf("%v", err)
	}
}

// Has reports whether the argument key is given, bare or with a value.
func (c *Command) Has(key string) bool {
	_, ok := c.arg(key)
	return ok
}

// Word returns the i-th bare word, counted from 0. If the command has fewer words, the test ends. A
// command that also takes flags has them after its words.
func (c *Command) Word(i int) string {
	c.t.Helper()
	n := 0
	for _, a := range c.Args {
		if a.Values != nil {
			continue
		}
		if n == i {
			c.used[a.Key] = true
			return a.Key
		}
		n++
	}
	c.Fatalf("has %d words, wants at least %d", n, i+1)
	return ""
}

// String returns the value of key. If key is not given, it returns argument missing.
func (c *Command) String(key, missing string) string {
	c.t.Helper()
	c.used[key] = true
	v, err := c.Value(key, missing)
	if err != nil {
		c.Fatalf("%v", err)
	}
	return v
}

// List returns the values of key: nil when key is not given, one element for
// key=value, and all of them for key=(value,value).
func (c *Command) List(key string) []string {
	c.t.Helper()
	a, ok := c.arg(key)
	if ok && a.Values == nil {
		c.Fatalf("%s: wants a value or a list", key)
	}
	return a.Values
}

// Int returns the value of key as a decimal number. If key is not given, it returns argument
// missing.
func (c *Command) Int(key string, missing int) int {
	c.t.Helper()
	c.used[key] = true
	n, err := c.Line.Int(key, missing)
	if err != nil {
		c.Fatalf("%v", err)
	}
	return n
}

// Duration returns the value of key in the form of time.ParseDuration. If key is not given, it
// returns argument missing.
func (c *Command) Duration(key string, missing time.Duration) time.Duration {
	c.t.Helper()
	return value(c, key, missing, "a duration", time.ParseDuration)
}

// Bool returns true for a bare key, and the value for key=true and key=false. If key is not given,
// it returns argument missing.
func (c *Command) Bool(key string, missing bool) bool {
	c.t.Helper()
	if a, ok := c.arg(key); ok && a.Values == nil {
		return true
	}
	return value(c, key, missing, "true or false", strconv.ParseBool)
}

func value[T any](c *Command, key string, missing T, kind string, parse func(string) (T, error)) T {
	c.t.Helper()
	if _, ok := c.arg(key); !ok {
		return missing
	}
	text := c.String(key, "")
	v, err := parse(text)
	if err != nil {
		c.Fatalf("%s: %q is not %s", key, text, kind)
	}
	return v
}

// arg returns an argument and marks it as known.
func (c *Command) arg(key string) (line.Arg, bool) {
	c.used[key] = true
	return c.Arg(key)
}

// unknown returns the keys that no accessor asked for, including keys of commands in the input.
func (c *Command) unknown() string {
	var keys []string
	for _, a := range c.Args {
		if !c.used[a.Key] {
			keys = append(keys, a.Key)
		}
	}
	for _, inner := range c.inner {
		if unknown := inner.unknown(); unknown != "" {
			keys = append(keys, inner.Name+" "+unknown)
		}
	}
	return strings.Join(keys, ", ")
}
