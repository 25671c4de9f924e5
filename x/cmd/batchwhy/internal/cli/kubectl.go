package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/explain"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// kinds are the kinds that an explanation uses. Each is read by a command of its own. So if the
// user may not read one kind, the others are still read.
var kinds = []string{"jobs", "cronjobs", "pods", "events"}

// answer is the output of kubectl for one kind, or why there is none.
type answer struct {
	kind, why string
	data      []byte
	err       error
}

// askKubectl reads the objects of a cluster with kubectl, which has the rights of the user.
func (p *program) askKubectl(ctx context.Context, objects *read.Objects) error {
	answers := make([]answer, len(kinds))
	var all sync.WaitGroup
	for i, kind := range kinds {
		all.Go(func() { answers[i] = p.get(ctx, kind) })
	}
	all.Wait()

	for i := range answers {
		a := &answers[i]
		if a.err != nil && !isForbidden(a.why) {
			return fmt.Errorf("kubectl get %s: %w: %s", a.kind, a.err, strings.TrimSpace(a.why))
		}
		if a.err != nil {
			if objects.Withheld == nil {
				objects.Withheld = make(map[string]string)
			}
			objects.Withheld[a.kind] = firstLine(a.why)
			continue
		}

		if objects.Complete == nil {
			objects.Complete = make(map[string]bool)
		}
		objects.Complete[a.kind] = len(p.names) == 0 || a.kind != "jobs" && a.kind != "cronjobs"

		stream := objects.Stream("kubectl get " + a.kind)
		_, _ = stream.Write(a.data) // never fails
		if err := stream.Close(); err != nil {
			return err
		}
	}

	if len(objects.Withheld) > 0 {
		names := slices.Sorted(maps.Keys(objects.Withheld))
		p.report(fmt.Errorf("warning: explained without %s: %s", strings.Join(names, ", "), objects.Withheld[names[0]]))
	}
	if len(objects.Withheld) == len(kinds) {
		return fmt.Errorf("kubectl may read nothing here: it needs the verb list for %s", strings.Join(kinds, ", "))
	}
	return nil
}

// get reads the objects of one kind, all or the named ones.
func (p *program) get(ctx context.Context, kind string, names ...string) answer {
	cmd := exec.CommandContext(ctx, "kubectl", p.getArgs(kind, names...)...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	mayNotList := err != nil && isForbidden(errOut.String())
	if mayNotList && len(names) == 0 && len(p.namesOf(kind)) > 0 {
		return p.get(ctx, kind, p.namesOf(kind)...) // whoever may not list may still get by name
	}
	return answer{kind, errOut.String(), out.Bytes(), err}
}

// logTime limits the time of all calls of kubectl logs together.
const logTime = 5 * time.Second

// askLogs reads the last lines that the newest failed pod of each Job has printed. It reads none if
// there are too many of these Jobs to explain each of them. An explanation has no such lines if the
// user may not read logs, or if the logs take too long.
func (p *program) askLogs(ctx context.Context, objects *read.Objects) {
	chosen := explain.Options{Names: p.names}
	jobs := make(map[job.UID]bool)
	for _, j := range objects.Jobs {
		owner := j.Controller()
		jobs[j.UID] = chosen.Wants("job", &j.Meta) || owner.Kind == "CronJob" &&
			chosen.Wants("cronjob", &read.Meta{Namespace: j.Namespace, Name: owner.Name})
	}

	newest := make(map[job.UID]*read.Pod)
	objects.Silent(func(pod *read.Pod, _ read.LogKey) string {
		uid := pod.Controller().UID
		if !jobs[uid] {
			return ""
		}
		if n := newest[uid]; n == nil || n.CreationTimestamp.Before(pod.CreationTimestamp) {
			newest[uid] = pod
		}
		return ""
	})
	if len(newest) > mostDetailed && !p.explainsEach() {
		return
	}

	ctx, cancel := context.WithTimeout(ctx, logTime)
	defer cancel()
	var calls sync.WaitGroup
	var mu sync.Mutex
	slots := make(chan struct{}, 4)
	objects.Silent(func(pod *read.Pod, key read.LogKey) string {
		if newest[pod.Controller().UID] != pod {
			return ""
		}
		args := []string{"logs", key.Pod, "--namespace", key.Namespace, "--container", key.Container,
			"--tail", strconv.Itoa(read.LogTail), "--limit-bytes", "65536"}
		if key.Previous {
			args = append(args, "--previous")
		}
		if p.context != "" {
			args = append(args, "--context", p.context)
		}

		slots <- struct{}{}
		calls.Go(func() {
			defer func() { <-slots }()
			cmd := exec.CommandContext(ctx, "kubectl", args...)
			cmd.WaitDelay = time.Second // for children of kubectl that keep its output open
			if out, err := cmd.Output(); err == nil {
				mu.Lock()
				defer mu.Unlock()
				objects.AddLog(key, string(out))
			}
		})
		return ""
	})
	calls.Wait()
}

// namesOf returns the requested names of objects of a kind, such as import for job/import.
func (p *program) namesOf(kind string) (names []string) {
	for _, name := range p.names {
		prefix, rest, ok := strings.Cut(name, "/")
		if ok && !strings.Contains(rest, "/") && strings.TrimSuffix(strings.ToLower(prefix), "s")+"s" == kind {
			names = append(names, rest)
		}
	}
	return names
}

func (p *program) getArgs(kind string, names ...string) []string {
	args := append(append([]string{"get", kind}, names...), "-o", "json")
	if p.namespace != "" {
		args = append(args, "--namespace", p.namespace)
	}
	if p.context != "" {
		args = append(args, "--context", p.context)
	}
	if p.all {
		args = append(args, "--all-namespaces")
	}
	return args
}

// isForbidden reports whether an error of kubectl means that the user may not read a kind.
func isForbidden(text string) bool {
	return strings.Contains(text, "(Forbidden)") || strings.Contains(text, "forbidden:")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

type input struct {
	name string
	from io.Reader
}

// watchKubectl starts to watch all kinds of a cluster. If the user may not watch a kind, its input
// ends immediately, and kubectl writes the reason to standard error.
func (p *program) watchKubectl(ctx context.Context) (inputs []input, err error) {
	for _, kind := range kinds {
		cmd := exec.CommandContext(ctx, "kubectl", append(p.getArgs(kind), "--watch", "--output-watch-events")...)
		cmd.Stderr = p.err
		out, err := cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		if err := cmd.Start(); err != nil {
			return nil, fmt.Errorf("kubectl: %w", err)
		}
		go func() { _ = cmd.Wait() }() // kubectl ends when the context is done
		inputs = append(inputs, input{"kubectl get " + kind, out})
	}
	return inputs, nil
}
