package read

import (
	"bufio"
	"io"
	"slices"
	"strings"
)

// LogKey names a container of a pod. Previous is true for the container before its last restart.
type LogKey struct {
	Namespace, Pod, Container string
	Previous                  bool
}

// LogLines is the number of lines of a log that are kept.
const LogLines = 3

// AddLog keeps the last lines that a container has printed.
func (o *Objects) AddLog(key LogKey, log string) {
	lines := slices.DeleteFunc(strings.Split(log, "\n"), isNoise)
	if len(lines) == 0 {
		return
	}
	if o.logs == nil {
		o.logs = make(map[LogKey]string)
	}
	o.logs[key] = strings.Join(lines[max(0, len(lines)-LogLines):], "\n")
}

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
	var last []string
	reader := bufio.NewReader(in)
	for {
		line, err := reader.ReadString('\n')
		line = strings.TrimRight(line, "\r\n")

		head, isHead := logHead(line)
		line, _, isEnd := strings.Cut(line, "==== END logs for container ") // a log may lack its last line end
		if !isHead && !isNoise(line) {
			last = append(last[max(0, len(last)-LogLines+1):], line)
		}
		if isHead || isEnd || err != nil {
			o.AddLog(key, strings.Join(last, "\n"))
			last = last[:0]
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
		o.Silent(func(_ *Pod, key LogKey) string { return o.logs[key] })
	}
}
