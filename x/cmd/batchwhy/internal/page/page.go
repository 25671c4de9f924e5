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
	"html"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

//go:embed static
var static embed.FS

// module is the package that is compiled.
const module = "github.com/batchplan/batchplan/x/cmd/batchwhy/wasm"

// Files are the files of the page by their name.
type Files map[string][]byte

//go:embed all:built
var embedded embed.FS

// Load returns the page that the binary contains. If the binary contains none, Load builds the
// page. A binary contains the page if "page --out page/built" ran before it was compiled, as for a
// release.
func Load(ctx context.Context) (Files, error) {
	files := make(Files)
	if err := files.readAll(embedded, "built"); err != nil {
		return nil, err
	}
	if files["index.html"] != nil {
		return files, nil
	}
	return Build(ctx)
}

// Build compiles the module with the go command and returns all files. If the current folder is in
// the module x/cmd/batchwhy, it compiles the sources there, and otherwise the version of this
// binary.
func Build(ctx context.Context) (Files, error) {
	from, clean, err := findSource(ctx)
	if err != nil {
		return nil, err
	}
	defer clean()

	out, err := run(ctx, from, "list", "-f", "{{.Dir}}", module)
	if err != nil {
		return nil, err
	}
	dir := strings.TrimSpace(out)

	files := make(Files)
	if err := files.readAll(static, "static"); err != nil {
		return nil, err
	}
	if files["module.js"], err = scriptOfModule(ctx, from); err != nil {
		return nil, err
	}
	testdata := filepath.Join(dir, "..", "internal", "explain", "testdata")
	ready, err := situationsOf(testdata)
	if err != nil {
		return nil, err
	}
	if err := files.addAnswers(ready); err != nil {
		return nil, err
	}
	if files["situations.js"], err = scriptOf(ready); err != nil {
		return nil, err
	}

	root, err := run(ctx, from, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	lib := filepath.Join(strings.TrimSpace(root), "lib")
	if files["zones.js"], err = zonesOf(filepath.Join(lib, "time", "zoneinfo.zip")); err != nil {
		return nil, err
	}

	// The script that loads a Go program in a browser must come from the version of Go that
	// compiles.
	if files["wasm_exec.js"], err = os.ReadFile(filepath.Join(lib, "wasm", "wasm_exec.js")); err != nil {
		return nil, err
	}

	files["worker.js"], err = workerOf(files)
	return files, err
}

// workerOf makes a script that contains the script of the worker as a text. Browsers refuse to
// start a worker from a file if the page itself was opened from disk.
func workerOf(files Files) ([]byte, error) {
	text, err := json.Marshal(string(files["wasm_exec.js"]) + "\n" + string(files["engine.js"]))
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "globalThis.batchplanWorker = %s;\n", text), nil
}

// findSource returns a folder in which the go command finds the module. It is the current folder,
// or a new one whose go.mod requires the version of this binary.
func findSource(ctx context.Context) (dir string, clean func(), err error) {
	if _, err = run(ctx, "", "list", module); err == nil {
		return "", func() {}, nil
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || strings.Contains(info.Main.Version, "devel") {
		return "", nil, fmt.Errorf("this binary contains no page, and has no version to build it from: use a "+
			"released binary, or run it in x/cmd/batchwhy: %w", err)
	}
	if dir, err = os.MkdirTemp("", "batchwhy"); err != nil {
		return "", nil, err
	}
	clean = func() { os.RemoveAll(dir) }
	for _, args := range [][]string{
		{"mod", "init", "batchwhy.invalid/page"},
		{"get", module + "@" + info.Main.Version},
	} {
		if _, err := run(ctx, dir, args...); err != nil {
			clean()
			return "", nil, err
		}
	}
	return dir, clean, nil
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

// readAll adds the files of a folder, except hidden ones.
func (f Files) readAll(from embed.FS, folder string) error {
	return fs.WalkDir(from, folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		f[d.Name()], err = from.ReadFile(path)
		return err
	})
}

// scriptOfModule makes a script that contains the module. If a page is opened from disk, it may load
// scripts, but no other files.
func scriptOfModule(ctx context.Context, from string) ([]byte, error) {
	code, err := compile(ctx, from)
	if err != nil {
		return nil, err
	}
	packed, err := packTwice(fold(shortenReturns(shrink(code))))
	if err != nil {
		return nil, err
	}
	return []byte("globalThis.batchplanModule = \"" + base64.StdEncoding.EncodeToString(packed) + "\";\n"), nil
}

// compile returns the module. Without inlining, it is a tenth smaller.
func compile(ctx context.Context, from string) ([]byte, error) {
	temp, err := os.MkdirTemp("", "explain")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)

	file := filepath.Join(temp, "module.wasm")
	args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-gcflags=all=-l", "-o", file, module}
	if _, err := run(ctx, from, args...); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// packTwice compresses data that the page's own scripts unpack. Output of gzip repeats itself, so a
// second pass saves another half a percent of the module.
func packTwice(data []byte) ([]byte, error) {
	once, err := pack(data)
	if err != nil {
		return nil, err
	}
	return pack(once)
}

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

// situation is a ready-made input of the page. Its link is #why/ and its name.
type situation struct {
	folder, file string
	Name         string `json:"name"`
	Title        string `json:"title"`
	Note         string `json:"note"`
	At           string `json:"at"`
	Ahead        int    `json:"ahead"`
	Text         string `json:"text"`
	// More is true for a situation that is not in the list on the page. It still has an address.
	More bool `json:"more,omitempty"`
}

// situations are ready-made inputs, the most wanted first. If a situation has no folder, its note
// and its time are in the first lines of its file.
var situations = []situation{
	{Name: "sidecar", file: "sidecar_istio", Title: "The container has finished, the pod runs on"},
	{Name: "backoff-limit", file: "backoff_exceeded", Title: "BackoffLimitExceeded"},
	{Name: "oom", file: "oom_loop", Title: "OOMKilled again and again"},
	{Name: "image-pull", file: "image_missing", Title: "ImagePullBackOff"},
	{Name: "pending", file: "no_cpu", Title: "Pending: Insufficient cpu"},
	{Name: "container-creating", file: "mount_failed", Title: "ContainerCreating: FailedMount"},
	{
		Name:   "forbid",
		folder: "forbid",
		file:   "input.json",
		Title:  "Forbid: a run is held back",
		At:     "2026-10-14T09:12:00Z",
		Ahead:  3600,
		Note: "The Job of 08:10 hangs, and concurrencyPolicy is Forbid. Five runs are lost, and the next is held " +
			"back until its starting deadline passes.",
	},
	{Name: "forbid-image", file: "forbid_image", Title: "The CronJob does not run any more"},
	{Name: "replace", file: "replace_kills", Title: "Replace: no run ever finishes"},
	{Name: "runs-fail", file: "all_fail", Title: "Every run fails"},
	{Name: "time-zone", file: "zone_typo", Title: "A misspelled time zone"},
	{
		Name:   "lost-run",
		folder: "lost_run",
		file:   "input.yaml",
		Title:  "Catch-up: a run is lost",
		At:     "2026-10-14T20:00:00Z",
		Ahead:  86400,
		Note: "The controller was down for a day. The latest missed run should be made up, but Kubernetes 1.37 " +
			"does not find it, since the schedule is irregular.",
	},
	{
		Name:   "suspended",
		folder: "suspended_cron",
		file:   "input.json",
		Title:  "A suspended CronJob",
		At:     "2026-10-14T09:00:00Z",
		Note:   "Thirteen runs have come due during the suspension. On resumption only the latest starts immediately.",
	},
	{
		Name:   "backoff",
		folder: "backoff",
		file:   "input.json",
		Title:  "Backoff: nothing runs",
		At:     "2026-10-14T09:01:00Z",
		Ahead:  3600,
		Note: "Three pods have failed. No pod runs, because the controller waits; the forecast says when the Job " +
			"fails if the next pods fail as well.",
	},
	{Name: "spot", file: "preempted", Title: "Preemption uses up backoffLimit"},
	{Name: "deadline", file: "deadline_waves", Title: "Will it meet the deadline?"},
	{
		Name:   "per-index",
		folder: "per_index",
		file:   "input.json",
		Title:  "Failures index by index",
		At:     "2026-10-14T09:00:30Z",
		Ahead:  3600,
		Note:   "Index 0 has failed twice and is given up, index 2 waits for its last retry.",
	},
	{
		Name:   "node-lost",
		folder: "node_lost",
		file:   "input.json",
		Title:  "A node that is lost",
		At:     "2026-10-14T09:00:00Z",
		Note:   "A pod cannot end on a dead node, and podReplacementPolicy Failed waits for it.",
	},
	{Name: "quota", file: "pod_security", Title: "The API server refuses the pods"},
	{Name: "kueue", file: "kueue", Title: "Kueue has not admitted the Job"},
	{Name: "finalizer", file: "orphan_finalizer", Title: "A pod hangs in Terminating"},
	{Name: "logs-gone", file: "onfailure_lost", Title: "Failed, and the logs are gone"},
	{Name: "crash-loop", file: "crash_exit", Title: "CrashLoopBackOff", More: true},
	{Name: "exit-127", file: "exit_127", Title: "Exit code 127", More: true},
	{Name: "exit-126", file: "exit_126", Title: "Exit code 126: permission denied", More: true},
	{Name: "exit-137", file: "oom_by_node", Title: "Exit code 137", More: true},
	{Name: "exit-139", file: "segfault", Title: "Exit code 139: segmentation fault", More: true},
	{Name: "exec-format", file: "exec_format", Title: "exec format error", More: true},
	{Name: "create-container-config", file: "config_key", Title: "CreateContainerConfigError", More: true},
	{Name: "image-unauthorized", file: "image_auth", Title: "ImagePullBackOff: 401 Unauthorized", More: true},
	{Name: "pull-rate-limit", file: "image_limit", Title: "toomanyrequests: the pull rate limit", More: true},
	{Name: "evicted", file: "evicted_disk", Title: "Evicted: the node was low on ephemeral-storage", More: true},
	{Name: "unbound-claim", file: "pvc_unbound", Title: "Unbound immediate PersistentVolumeClaims", More: true},
	{Name: "multi-attach", file: "mount_attach", Title: "Multi-Attach error for volume", More: true},
	{Name: "untolerated-taint", file: "tainted", Title: "Pending: untolerated taint", More: true},
	{Name: "gpu", file: "gpu_pending", Title: "Pending: Insufficient nvidia.com/gpu", More: true},
	{Name: "too-many-missed", file: "missed_100", Title: "TooManyMissedTimes: more than 100", More: true},
	{Name: "deadline-exceeded", file: "deadline_exceeded", Title: "DeadlineExceeded", More: true},
	{Name: "failed-indexes", file: "failed_index", Title: "FailedIndexes", More: true},
	{Name: "init-crash", file: "init_crash", Title: "Init:CrashLoopBackOff", More: true},
	{Name: "linkerd", file: "sidecar_linkerd", Title: "Linkerd keeps the pod of a Job alive", More: true},
	{Name: "webhook", file: "webhook", Title: "admission webhook denied the request", More: true},
	{Name: "ttl", file: "ttl_zero", Title: "Jobs and their logs are gone at once", More: true},
	{Name: "last-day", file: "last_day", Title: "A CronJob on the last day of the month", More: true},
}

// situationsOf reads the ready-made inputs.
func situationsOf(folder string) ([]situation, error) {
	all := make([]situation, 0, len(situations))
	for _, s := range situations {
		file := filepath.Join(folder, "situations", s.folder, "input", s.file)
		if s.folder == "" {
			file = filepath.Join(folder, "questions", s.file+".yaml")
		}

		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}

		s.Text = string(data)
		if s.folder == "" {
			s.readHead()
		}
		all = append(all, s)
	}
	return all, nil
}

// scriptOf makes a script that holds the ready-made inputs.
func scriptOf(all []situation) ([]byte, error) {
	data, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "const situations = %s;\n", data), nil
}

// readHead removes the comments at the head of Text. It puts what follows "# question: " into Note,
// and what follows "# at: " into At.
func (s *situation) readHead() {
	for strings.HasPrefix(s.Text, "# ") {
		var line string
		line, s.Text, _ = strings.Cut(s.Text, "\n")
		if text, ok := strings.CutPrefix(line, "# question: "); ok {
			s.Note = text
		} else if text, ok := strings.CutPrefix(line, "# at: "); ok {
			s.At = text
		}
	}
}

// At makes the links of the page's preview absolute, as a published page needs them, and lists the
// addresses for search engines.
func (f Files) At(url string) {
	var addresses []string
	for name := range f {
		if strings.HasSuffix(name, ".html") {
			addresses = append(addresses, strings.TrimSuffix(url, "/")+"/"+name+"\n")
		}
	}
	slices.Sort(addresses)
	f["sitemap.txt"] = []byte(strings.Join(addresses, ""))

	const link = `content="preview.png"`
	f["index.html"] = bytes.ReplaceAll(f["index.html"], []byte(link),
		[]byte(`content="`+html.EscapeString(strings.TrimSuffix(url, "/"))+`/preview.png"`))
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

// Size returns the compressed size of the files that a browser loads for the page. It leaves out
// the pages of single answers, which load nothing but a style.
func (f Files) Size() (sum int, err error) {
	for name, data := range f {
		if strings.HasSuffix(name, ".html") && name != "index.html" {
			continue
		}
		packed, err := pack(data)
		if err != nil {
			return 0, err
		}
		sum += len(packed)
	}
	return sum, nil
}
