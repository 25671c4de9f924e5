// Package page makes the page: static files, and one module that is compiled to
// WebAssembly from the packages of the command.
package page

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed static
var static embed.FS

// module is the package that is compiled.
const module = "github.com/batchplan/batchplan/examples/explain/wasm"

// Files are the files of the page by their name.
type Files map[string][]byte

// Build compiles the module with the go command and returns all files. The current folder
// must be in the module examples/explain.
func Build(ctx context.Context) (Files, error) {
	out, err := run(ctx, "", "list", "-f", "{{.Dir}}", module)
	if err != nil {
		return nil, fmt.Errorf("the page is made from its sources, so this works in examples/explain only: %w", err)
	}
	dir := strings.TrimSpace(out)
	files, err := readStatic()
	if err != nil {
		return nil, err
	}
	if files["module.js"], err = compile(ctx, dir); err != nil {
		return nil, err
	}
	if files["situations.js"], err = situationsOf(filepath.Join(dir, "..", "explain", "testdata", "situations")); err != nil {
		return nil, err
	}
	root, err := run(ctx, dir, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	if files["zones.js"], err = zonesOf(filepath.Join(strings.TrimSpace(root), "lib", "time", "zoneinfo.zip")); err != nil {
		return nil, err
	}
	// The glue between a browser and a Go program belongs to the compiler's version.
	files["wasm_exec.js"], err = os.ReadFile(filepath.Join(strings.TrimSpace(root), "lib", "wasm", "wasm_exec.js"))
	return files, err
}

// run runs the go command in a folder, and returns what it prints.
func run(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	var out, problem bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &problem
	if args[0] == "build" {
		cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	}
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w: %s", args[0], err, bytes.TrimSpace(problem.Bytes()))
	}
	return out.String(), nil
}

func readStatic() (Files, error) {
	files := make(Files)
	err := fs.WalkDir(static, "static", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[d.Name()], err = static.ReadFile(path)
		return err
	})
	return files, err
}

// compile makes a script that holds the module. A page that is opened from disk may load
// scripts, but not other files. Without inlining, the module is a tenth smaller. It is
// compressed twice: the compressed form of its tables repeats itself.
func compile(ctx context.Context, dir string) ([]byte, error) {
	temp, err := os.MkdirTemp("", "explain")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	file := filepath.Join(temp, "module.wasm")
	if _, err := run(ctx, dir, "build", "-trimpath", "-ldflags=-s -w", "-gcflags=all=-l", "-o", file, "."); err != nil {
		return nil, err
	}
	code, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	packed, err := pack(code)
	if err != nil {
		return nil, err
	}
	if packed, err = pack(packed); err != nil {
		return nil, err
	}
	return []byte("globalThis.batchplanModule = \"" + base64.StdEncoding.EncodeToString(packed) + "\";\n"), nil
}

// pack compresses bytes.
func pack(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// situation is a ready-made input of the page.
type situation struct {
	folder, file string
	Title        string `json:"title"`
	Note         string `json:"note"`
	At           string `json:"at"`
	Ahead        int    `json:"ahead"`
	Text         string `json:"text"`
}

var situations = []situation{
	{folder: "forbid", file: "input.json", Title: "Forbid: a run is held back", At: "2026-10-14T09:12:00Z", Ahead: 3600,
		Note: "The Job of 08:10 hangs, and concurrencyPolicy is Forbid. Five runs are lost, and the next is held back until its starting deadline passes."},
	{folder: "lost_run", file: "input.yaml", Title: "Catch-up: a run is lost", At: "2026-10-14T20:00:00Z", Ahead: 86400,
		Note: "The controller was down for a day. The latest missed run should be made up, but Kubernetes 1.36 does not find it, since the schedule is irregular."},
	{folder: "suspended_cron", file: "input.json", Title: "A suspended CronJob", At: "2026-10-14T09:00:00Z",
		Note: "Thirteen runs have come due during the suspension. On resumption only the latest starts, at once."},
	{folder: "backoff", file: "input.json", Title: "Backoff: nothing runs", At: "2026-10-14T09:01:00Z", Ahead: 3600,
		Note: "Three pods have failed. No pod runs, because the controller waits; the forecast says when the Job fails if the next pods fail as well."},
	{folder: "image_pull", file: "input.json", Title: "Pods that cannot start", At: "2026-10-14T09:14:00Z",
		Note: "The image cannot be pulled. Nothing has failed, so no limit ends this Job."},
	{folder: "per_index", file: "input.json", Title: "Failures index by index", At: "2026-10-14T09:00:30Z", Ahead: 3600,
		Note: "Index 0 has failed twice and is given up, index 2 waits for its last retry."},
	{folder: "node_lost", file: "input.json", Title: "A node that is lost", At: "2026-10-14T09:00:00Z",
		Note: "A pod cannot end on a dead node, and podReplacementPolicy Failed waits for it."},
}

// situationsOf makes a script that holds the ready-made inputs.
func situationsOf(folder string) ([]byte, error) {
	all := make([]situation, 0, len(situations))
	for _, s := range situations {
		data, err := os.ReadFile(filepath.Join(folder, s.folder, "input", s.file))
		if err != nil {
			return nil, err
		}
		s.Text = string(data)
		all = append(all, s)
	}
	data, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "const situations = %s;\n", data), nil
}

// Write writes the files into a folder.
func (f Files) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, data := range f {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Size returns how many bytes a browser loads from a server that compresses.
func (f Files) Size() (sum int, err error) {
	for _, data := range f {
		packed, err := pack(data)
		if err != nil {
			return 0, err
		}
		sum += len(packed)
	}
	return sum, nil
}
