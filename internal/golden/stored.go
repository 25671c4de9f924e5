package golden

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// Concluded is a plan as a released version has stored it, with its outcome and with the status and
// the memory of its conclusion.
type Concluded struct {
	Plan    json.RawMessage `json:"plan"`
	Outcome json.RawMessage `json:"outcome"`
	Status  json.RawMessage `json:"status"`
	Memory  json.RawMessage `json:"memory"`
}

// Stored checks the values in the files dir/stored_*.jsonl, which have a [Concluded] on each line:
// they can be read, are the same bytes when they are written again, and give the same status and
// memory. The files of released versions are never changed. With -update it writes the file of a
// version that has none, from draws that show each member and each reason at least once.
func Stored[P, O, S, M any](
	t *testing.T, dir, version string, draw func(*rapid.T) (P, O), conclude func(*P, O) (S, M),
) {
	t.Helper()
	storedLines(t, dir, "stored", version, func(t *rapid.T) any {
		plan, outcome := draw(t)
		status, memory := conclude(&plan, outcome)
		return Concluded{jsonOf(t, plan), jsonOf(t, outcome), jsonOf(t, status), jsonOf(t, memory)}
	}, func(line []byte) error { return readStored(line, conclude) })
}

// StoredSnapshots checks the files dir/snapshots_*.jsonl, which have a snapshot on each line: the
// snapshots can be read, and are the same bytes when they are written again.
func StoredSnapshots[S any](t *testing.T, dir, version string, draw func(*rapid.T) S) {
	t.Helper()
	storedLines(t, dir, "snapshots", version, func(t *rapid.T) any { return draw(t) }, func(line []byte) error {
		_, err := reread[S]("the snapshot", line)
		return err
	})
}

// storedLines checks each line of the files of a kind. With -update it writes the file of a version
// that has none.
func storedLines(
	t *testing.T, dir, kind, version string, draw func(*rapid.T) any, check func(line []byte) error,
) {
	t.Helper()
	file := filepath.Join(dir, kind+"_"+version+".jsonl")
	if _, err := os.Stat(file); *update && errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(file, storedCases(t, draw), 0o666); err != nil {
			t.Fatal(err)
		}
	}

	files, err := filepath.Glob(filepath.Join(dir, kind+"_*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no stored values in %s: %v", dir, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range bytes.Lines(data) {
			n++
			if err := check(bytes.TrimSuffix(line, []byte("\n"))); err != nil {
				t.Errorf("%s:%d: %v", file, n, err)
			}
		}
	}
}

// readStored checks one line.
func readStored[P, O, S, M any](line []byte, conclude func(*P, O) (S, M)) error {
	var c Concluded
	if err := json.Unmarshal(line, &c); err != nil {
		return err
	}
	plan, err1 := reread[P]("plan", c.Plan)
	outcome, err2 := reread[O]("outcome", c.Outcome)
	_, err3 := reread[S]("status", c.Status)
	_, err4 := reread[M]("memory", c.Memory)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}

	status, memory := conclude(&plan, outcome)
	return errors.Join(
		same("the status of the conclusion", status, c.Status),
		same("the memory of the conclusion", memory, c.Memory),
	)
}

// reread reads a value, and checks that writing the value gives the same bytes.
func reread[T any](what string, data []byte) (v T, err error) {
	if err := json.Unmarshal(data, &v); err != nil {
		return v, fmt.Errorf("%s: %w", what, err)
	}
	return v, same(what, v, data)
}

func same(what string, v any, data []byte) error {
	again, err := json.Marshal(v)
	if err == nil && !bytes.Equal(again, data) {
		err = fmt.Errorf("%s is\n%s\nwas\n%s", what, again, data)
	}
	return err
}

func jsonOf(t *rapid.T, v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// storedCases draws cases, and keeps those with a member or a word that no earlier case has.
func storedCases(t *testing.T, draw func(*rapid.T) any) []byte {
	const draws = 4000

	var out bytes.Buffer
	seen := map[string]bool{}
	for n := range draws {
		line := rapid.Custom(func(t *rapid.T) json.RawMessage { return jsonOf(t, draw(t)) }).Example(n)

		var tree any
		if err := json.Unmarshal(line, &tree); err != nil {
			t.Fatal(err)
		}
		known := len(seen)
		membersOf(tree, "", seen)
		if len(seen) > known {
			out.Write(line)
			out.WriteByte('\n')
		}
	}
	return out.Bytes()
}

// words are the members with enumerated values.
var words = map[string]bool{
	"reason": true, "as": true, "kind": true, "type": true, "policy": true, "action": true,
	"phase": true, "owner": true, "state": true, "catchUp": true, "form": true, "timeIn": true,
}

// membersOf adds the paths of all members of a tree to seen.
func membersOf(tree any, path string, seen map[string]bool) {
	seen[path] = true
	switch v := tree.(type) {
	case map[string]any:
		for name, member := range v {
			if word, ok := member.(string); ok && words[name] {
				seen[path+"."+name+"="+word] = true
			}
			membersOf(member, path+"."+name, seen)
		}
	case []any:
		for _, element := range v {
			membersOf(element, path+"[]", seen)
		}
	}
}
