package golden

import (
	"strconv"
	"strings"
	"time"
)

// Command is one command of a story. Its accessors end the test, with file and
// line, when a value does not have the requested form. An argument that no accessor
// has requested by the end of the command fails the test as unknown.
type Command struct {
	// Name is the first word of the line.
	Name string
	// Args holds the other words, in order.
	Args []Arg
	// Input is the lines between the command and "----", without the last newline.
	Input string
	// Pos is the position of the command, as file:line.
	Pos string

	t    reporter
	used map[string]bool
}

// Arg is one argument of a [Command].
type Arg struct {
	// Key is the bare word, or the text before the equals sign.
	Key string
	// Values holds the values after the equals sign: nil for a bare word, several for a list.
	Values []string
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

// Line parses a line of the command's input as a command at the same position.
func (c *Command) Line(text string) *Command {
	c.t.Helper()
	line, err := parseCommand(text)
	if err != nil {
		c.Fatalf("%v", err)
	}
	line.Pos, line.t = c.Pos, c.t
	return line
}

// Has reports whether the argument key is given, bare or with a value.
func (c *Command) Has(key string) bool {
	_, ok := c.arg(key)
	return ok
}

// Word returns the i-th bare word, counted from 0. The test ends when there are
// fewer. A command that also takes flags has them after its words.
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

// String returns the value of key, or missing when key is not given.
func (c *Command) String(key, missing string) string {
	c.t.Helper()
	a, ok := c.arg(key)
	switch {
	case !ok:
		return missing
	case len(a.Values) != 1:
		c.Fatalf("%s: has %d values, wants one", key, len(a.Values))
	}
	return a.Values[0]
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

// Int returns the value of key as a decimal number, or missing when key is not
// given.
func (c *Command) Int(key string, missing int) int {
	c.t.Helper()
	return value(c, key, missing, "a number", strconv.Atoi)
}

// Duration returns the value of key in the form of time.ParseDuration, or
// missing when key is not given.
func (c *Command) Duration(key string, missing time.Duration) time.Duration {
	c.t.Helper()
	return value(c, key, missing, "a duration", time.ParseDuration)
}

// Bool returns true for a bare key, its value for key=true and key=false, and
// missing when key is not given.
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
func (c *Command) arg(key string) (Arg, bool) {
	c.used[key] = true
	for _, a := range c.Args {
		if a.Key == key {
			return a, true
		}
	}
	return Arg{}, false
}

// unknown returns the keys that no accessor asked for.
func (c *Command) unknown() string {
	var keys []string
	for _, a := range c.Args {
		if !c.used[a.Key] {
			keys = append(keys, a.Key)
		}
	}
	return strings.Join(keys, ", ")
}
