package read

import (
	"bufio"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// LogKey names a container of a pod. Previous is true for the container before its last restart.
type LogKey struct {
	Namespace, Pod, Container string
	Previous                  bool
}

// LogTail is the number of lines at the end of a log that are searched, without empty ones. Of these, the
// last logLines are kept, and the last line before them that looks like an error.
const (
	LogTail  = 30
	logLines = 3
)

// AddLog keeps the last lines that a container has printed.
func (o *Objects) AddLog(key LogKey, log string) {
	var e ending
	for line := range strings.SplitSeq(log, "\n") {
		e.add(line)
	}
	o.keepLog(key, &e)
}

func (o *Objects) keepLog(key LogKey, e *ending) {
	if len(e.last) == 0 {
		return
	}
	if o.logs == nil {
		o.logs = make(map[LogKey]string)
	}
	if e.bad != "" && e.since < LogTail {
		e.last = slices.Insert(e.last, 0, e.bad)
	}
	o.logs[key] = strings.Join(e.last, "\n")
}

// ending is the end of a log. The last bad line before the last lines is followed by since lines.
type ending struct {
	bad   string
	since int
	last  []string
}

func (e *ending) add(line string) {
	if isNoise(line) {
		return
	}
	e.last = append(e.last, line)
	e.since++
	if len(e.last) > logLines {
		if LooksBad(e.last[0]) {
			e.bad, e.since = e.last[0], logLines
		}
		e.last = slices.Delete(e.last, 0, 1)
	}
}

var (
	bad = regexp.MustCompile(`\b(ERROR|FATAL|CRITICAL|Traceback|panic:|\w*(Exception|Error)\b)|` +
		`(?i)\b(error|fatal|err)\b *[:=]|level"?[=:] *"?(error|fatal)`)
	good = regexp.MustCompile(`(?i)\b(0|no|without) +\w*(error|exception|critical)|` +
		`\b(error|err|exception|fatal|critical)\w*"? *[=:] *` +
		`("?<?(0|none|nil|null|false)\b|""|''|-?\d*\.\d+%?([\s,;)]|$))`)
)

// LooksBad reports whether a line of a log looks like an error.
func LooksBad(line string) bool { return bad.MatchString(line) && !good.MatchString(line) }

// Log returns the end of what a container has printed, or "".
func (o *Objects) Log(key LogKey) string { return o.logs[key] }

// LogOfFile returns the container whose log a file has by its name: POD.log or POD_CONTAINER.log. The
// namespace is not known.
func LogOfFile(path string) (key LogKey, ok bool) {
	name := filepath.Base(path)
	ext := filepath.Ext(name)
	key.Pod, key.Container, _ = strings.Cut(strings.TrimSuffix(name, ext), "_")
	return key, strings.EqualFold(ext, ".log") && key.Pod != "" && !strings.Contains(key.Container, "_")
}

// settleLogs finds the pods of the logs that came without a namespace. A log without a container is of the
// first one that is no init container, as kubectl logs chooses it.
func (o *Objects) settleLogs() {
	for _, p := range o.Pods {
		if p == nil {
			continue
		}
		isFirst := true
		for _, c := range p.Spec.Containers {
			from := []LogKey{{Pod: p.Name, Container: c.Name}}
			if !c.Init && isFirst {
				from, isFirst = append(from, LogKey{Pod: p.Name}), false
			}
			to := LogKey{Namespace: p.Namespace, Pod: p.Name, Container: c.Name}
			for _, key := range from {
				if log := o.logs[key]; log != "" && o.logs[to] == "" {
					o.logs[to] = log
				}
			}
		}
	}
}

// Logs returns the ends of all logs.
func (o *Objects) Logs() map[LogKey]string { return o.logs }

// isNoise reports whether a line of a log is empty, or is a message that kubectl or the kubelet
// writes in place of a log that they cannot read.
func isNoise(line string) bool {
	for _, begin := range []string{"Request log error: ", "Create log request error: ",
		"unable to retrieve container logs for "} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return strings.TrimSpace(line) == ""
}

// LogMark begins each log in the files of kubectl cluster-info dump.
const LogMark = "==== START logs for container "

// logHead returns the container that the first line of a log names, as in
// "==== START logs for container main of pod prod/import-a ====".
func logHead(line string) (key LogKey, ok bool) {
	line, ok = strings.CutPrefix(line, LogMark)
	container, pod, of := strings.Cut(strings.TrimSuffix(line, " ===="), " of pod ")
	namespace, name, slash := strings.Cut(pod, "/")
	return LogKey{Namespace: namespace, Pod: name, Container: container}, ok && of && slash
}

// ReadLogs reads logs as kubectl cluster-info dump writes them, each between a START and an END line.
func (o *Objects) ReadLogs(in io.Reader) error {
	var key LogKey
	var end ending
	reader := bufio.NewReader(in)
	for {
		line, err := reader.ReadString('\n')
		line = strings.TrimRight(line, "\r\n")

		head, isHead := logHead(line)
		line, _, isEnd := strings.Cut(line, "==== END logs for container ") // a log may lack its last line end
		if !isHead {
			end.add(line)
		}
		if isHead || isEnd || err != nil {
			o.keepLog(key, &end)
			end = ending{}
			if isHead {
				key = head
			}
		}

		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Silent calls do for each container that has failed without a message, or that runs before the others.
// The result becomes the container's message.
func (o *Objects) Silent(do func(*Pod, LogKey) string) {
	for _, p := range o.Pods {
		if p == nil {
			continue
		}
		for i := range p.Containers {
			c := &p.Containers[i]
			key := LogKey{Namespace: p.Namespace, Pod: p.Name, Container: c.Name}
			isFirst := c.Running && c.Init && !c.Sidecar
			isBad := c.Ended && c.ExitCode != 0 || isFirst
			if isBad && c.Message == "" {
				c.Message = do(p, key)
			}
			if key.Previous = true; c.Last != nil && c.Last.ExitCode != 0 && c.Last.Message == "" {
				c.Last.Message = do(p, key)
			}
		}
	}
}

// UseLogs gives each container that has failed without a message a message: the end of its log.
func (o *Objects) UseLogs() {
	if len(o.logs) > 0 {
		o.settleLogs()
		o.Silent(func(_ *Pod, key LogKey) string { return o.Log(key) })
	}
}
