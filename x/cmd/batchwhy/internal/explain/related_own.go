package explain

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// This file finds what the pod template itself says about a trouble.

// ownHints are about the fields of the pod template that a trouble may come from.
func (l *look) ownHints() []hint {
	spec, _ := l.template()["spec"].(map[string]any)
	return slices.Concat(l.unitHints(spec), l.spreadHints(spec), l.volumeKinds(spec), l.userHints(spec), l.indexHints(),
		l.rangeHints(), l.warnings())
}

// unitHints report sizes whose unit was probably forgotten: 500 cores, or half a byte.
func (l *look) unitHints(spec map[string]any) (all []hint) {
	for _, c := range slices.Concat(elements(spec["initContainers"]), elements(spec["containers"])) {
		for _, which := range []string{"requests", "limits"} {
			cpu, memory := read.At(c, "resources."+which+".cpu"), read.At(c, "resources."+which+".memory")
			if n, ok := quantity(cpu); ok && n >= 100 && cpu != nil {
				all = append(all, hint{text: fmt.Sprintf("%s.cpu of container %s is %v, which is %v cores; %vm is %g "+
					"of one",
					which, str(c, "name"), cpu, n, n, n/1000), points: []string{"insufficient cpu", "cpu="},
					remedies: []*Remedy{
						when("thousandths of a core are meant", l.again(fmt.Sprintf("write %s.cpu: %vm", which, n)))}})
			}
			if n, ok := quantity(memory); ok && n > 0 && n < 1<<20 {
				meant := strings.TrimRight(fmt.Sprint(memory), "mKki") + "Mi"
				all = append(all, hint{text: fmt.Sprintf("%s.memory of container %s is %v, which is %g bytes", which,
					str(c, "name"), memory, n), alone: true, points: []string{"memory", "oom", "cannot start",
					"sandbox"},
					remedies: []*Remedy{when(meant+" is meant", l.again(fmt.Sprintf("write %s.memory: %s", which,
						meant)))}})
			}
		}
	}
	return all
}

// spreadHints report rules under which the Job's own pods exclude each other.
func (l *look) spreadHints(spec map[string]any) (all []hint) {
	places := func(key string) string {
		n := len(l.e.withLabel(key))
		if len(l.e.objects.Nodes) == 0 {
			return ""
		}
		return fmt.Sprintf("; the nodes that were read have %s of it", count(int64(n), "value"))
	}
	fewer := func(n int64) []*Remedy {
		if n < 1 || n >= int64(value.Of(l.spec.Parallelism)) {
			return nil
		}
		return []*Remedy{l.set(fmt.Sprintf("let %s run at a time", count(n, "pod")), "spec.parallelism", n,
			"pods beyond that are deleted, those that are pending first; they do not count as failed")}
	}

	const required = "affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"
	for _, term := range elements(read.At(spec, required)) {
		key, selector := str(term, "topologyKey"), read.At(term, "labelSelector")
		if selector == nil || !selects(selector, l.podLabels()) {
			continue
		}
		all = append(all, hint{text: fmt.Sprintf("podAntiAffinity of the template selects the Job's own pods: of "+
			"them, each value of %s has one at most, and parallelism is %d%s", key, value.Of(l.spec.Parallelism),
			places(key)),
			points: []string{"anti-affinity"}, remedies: fewer(int64(len(l.e.withLabel(key))))})
	}
	for _, c := range elements(spec["topologySpreadConstraints"]) {
		key, selector := str(c, "topologyKey"), read.At(c, "labelSelector")
		isHard := str(c, "whenUnsatisfiable") != "ScheduleAnyway"
		if !isHard {
			continue
		}
		text := fmt.Sprintf("the Job's own pods count for its topologySpreadConstraints: maxSkew %v over %s%s",
			read.At(c, "maxSkew"), key, places(key))
		switch {
		case selector == nil:
			text = fmt.Sprintf("topologySpreadConstraints for %s has no labelSelector, so that it counts no pods: "+
				"only nodes without that label do not match", key)
		case !selects(selector, l.podLabels()):
			text = fmt.Sprintf("the selector of topologySpreadConstraints for %s does not select the Job's own pods%s",
				key, places(key))
		}
		all = append(all, hint{text: text, points: []string{"topology spread"}})
	}
	return all
}

// volumeKinds are about the sizes of the volumes of the template.
func (l *look) volumeKinds(spec map[string]any) (all []hint) {
	const full = "no space left"
	var fullPoints []string
	_, volume, path := l.pathOf(spec, full)
	if path != "" && read.At(volume, "emptyDir.medium") == "Memory" { // a disk has no limit of its own
		fullPoints = []string{full}
	}

	for _, v := range elements(spec["volumes"]) {
		name, points := str(v, "name"), []string(nil)
		if name == str(volume, "name") {
			points = fullPoints
		}
		if dir, is := read.At(v, "emptyDir").(map[string]any); is && dir["sizeLimit"] != nil {
			raise := l.again(fmt.Sprintf("raise sizeLimit of emptyDir %s, which the pod has filled, or let the "+
				"program write less to it", name))
			all = append(all, hint{text: fmt.Sprintf("volume %s is an emptyDir with sizeLimit %v", name,
				dir["sizeLimit"]), remedies: []*Remedy{raise}, instead: true,
				points: append([]string{`emptydir volume "` + name, "emptydir volume '" + name}, points...)})
		} else if is && dir["medium"] == "Memory" {
			all = append(all, hint{text: fmt.Sprintf("volume %s is an emptyDir in memory: what is written to it "+
				"counts as memory of the container", name), points: append([]string{"memory", "oomkilled"}, points...)})
		}
	}
	return all
}

// userHints are about the user of a container and the volume of the path that it cannot use.
func (l *look) userHints(spec map[string]any) []hint {
	for _, words := range [][]string{{"permission denied", "eacces"}, {"read-only file system", "erofs"}} {
		if f, ok := l.userHint(spec, words[0][0] == 'r', words...); ok {
			f.points, f.instead = words, len(f.remedies) > 0
			return []hint{f}
		}
	}
	return nil
}

func (l *look) userHint(spec map[string]any, isReadOnly bool, words ...string) (f hint, ok bool) {
	own, volume, path := l.pathOf(spec, words...)
	if path == "" {
		return f, false
	}
	field := func(name string) any {
		if v := read.At(own, "securityContext."+name); v != nil {
			return v
		}
		return read.At(spec, "securityContext."+name)
	}

	where := "the image"
	if volume != nil {
		where = "volume " + str(volume, "name")
	}
	isFiles := read.At(volume, "configMap") != nil || read.At(volume, "secret") != nil
	if isReadOnly {
		mount, _ := mountOf(path, own, spec)
		isRoot, _ := field("readOnlyRootFilesystem").(bool)
		switch {
		case isFiles || read.At(mount, "readOnly") == true:
			return hint{text: fmt.Sprintf("%s comes from %s, which is mounted read-only", path, where),
				remedies: []*Remedy{l.again("let it write to another volume, such as an emptyDir")}}, true
		case volume == nil && isRoot:
			return hint{text: fmt.Sprintf("readOnlyRootFilesystem is true, and no volume is mounted at %s", path),
				remedies: []*Remedy{l.again("mount an emptyDir at the folder of " + path)}}, true
		}
		return f, false
	}

	group, user := read.At(spec, "securityContext.fsGroup"), field("runAsUser")
	isUser, takesGroup := user != nil && show(user) != "0", false
	for _, kind := range []string{"persistentVolumeClaim", "emptyDir", "csi", "ephemeral"} {
		takesGroup = takesGroup || read.At(volume, kind) != nil
	}
	switch {
	case isFiles:
		return hint{text: fmt.Sprintf("%s comes from %s, and defaultMode says who may read or execute its files", path,
			where), remedies: []*Remedy{l.again(fmt.Sprintf("set defaultMode of %s: 0555 for programs; 0440 with an "+
			"fsGroup for what others must not read", where))}}, true
	case takesGroup && group == nil && isUser:
		return hint{text: fmt.Sprintf("%s comes from %s, the container runs as user %v, and fsGroup is not set, so "+
			"that the files keep the group that they have", path, where, user), remedies: []*Remedy{l.again(fmt.Sprintf(
			"set securityContext.fsGroup of the pod, such as to %v: the kubelet changes the group of all files of the "+
				"volume, if its driver can", user))}}, true
	case user != nil || group != nil:
		return hint{text: fmt.Sprintf("%s comes from %s; runAsUser is %s, and fsGroup %s", path, where,
			orNone(show(user)), orNone(show(group)))}, true
	}
	return f, false
}

func show(value any) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// pathOf returns the path that a container names with an error, the container's spec, and the volume that
// the path is on, or nil.
func (l *look) pathOf(spec map[string]any, words ...string) (own, volume any, path string) {
	for _, p := range l.pods {
		for i := range p.Containers {
			c := &p.Containers[i]
			message := c.Message
			if c.Last != nil {
				message += "\n" + c.Last.Message
			}
			if path = pathIn(message, words...); path == "" || neverRan(c.Reason) {
				continue
			}
			for _, other := range slices.Concat(elements(spec["initContainers"]), elements(spec["containers"])) {
				if str(other, "name") == c.Name {
					own = other
				}
			}
			_, volume = mountOf(path, own, spec)
			return own, volume, path
		}
	}
	return nil, nil, ""
}

// pathIn returns the path that a message names on a line with one of the words: after it, as in "denied:
// '/x'", or before it. A path at the start of a line is that of the program.
func pathIn(message string, words ...string) string {
	paths := func(text string) (all []string) {
		isBreak := func(r rune) bool { return strings.ContainsRune(" \t'\"`,;()[]", r) }
		for _, w := range strings.FieldsFunc(text, isBreak) {
			if strings.HasPrefix(w, "/") && len(w) > 1 {
				all = append(all, strings.TrimRight(w, ":."))
			}
		}
		return all
	}

	for line := range strings.SplitSeq(message, "\n") {
		for _, w := range words {
			before, after, is := cutFold(line, w)
			if !is {
				continue
			}
			follows := strings.HasPrefix(after, ":") || strings.HasPrefix(after, ",")
			if all := paths(after); follows && len(all) > 0 {
				return all[0]
			}

			all, before := paths(before), strings.TrimSpace(before)
			if len(all) == 0 {
				continue
			}
			last := all[len(all)-1]
			isProgram := strings.HasPrefix(before, last+": ") || strings.Contains(before, `File "`+last)
			if !isProgram {
				return last
			}
		}
	}
	return ""
}

// cutFold is strings.Cut for a word in small letters, in a line with any.
func cutFold(line, word string) (before, after string, is bool) {
	i := strings.Index(strings.ToLower(line), word)
	if is = i >= 0 && i+len(word) <= len(line); !is {
		return line, "", false
	}
	return line[:i], line[i+len(word):], true
}

// mountOf returns the mount of a container and the volume that a path is on, or nil.
func mountOf(path string, container, spec any) (mount, volume any) {
	longest := 0
	for _, m := range elements(read.At(container, "volumeMounts")) {
		at := strings.TrimSuffix(str(m, "mountPath"), "/")
		if isBelow := path == at || strings.HasPrefix(path, at+"/"); isBelow && len(at) >= longest {
			mount, longest = m, len(at)
		}
	}
	for _, v := range elements(read.At(spec, "volumes")) {
		if mount != nil && str(v, "name") == str(mount, "name") {
			volume = v
		}
	}
	return mount, volume
}

// indexHints report that a program names a part by another number than its index, which begins at 0.
func (l *look) indexHints() []hint {
	if !l.isIndexed() || l.spec.Completions == nil {
		return nil
	}

	for i, p := range l.pods {
		index := int(l.snapshot.Pods[i].Index.Int32())
		for k := range p.Containers {
			message := p.Containers[k].Message
			if h := l.fromOne(index, message); h != nil {
				return []hint{*h}
			}

			words := wordsIn(strings.ToLower(message))
			isBounds := contains(message, "out of bounds", "out of range")
			for at, w := range words[:max(len(words)-1, 0)] {
				n, err := strconv.Atoi(strings.TrimLeft(words[at+1], "#"))

				isPart := w != "" && strings.Contains(" shard partition chunk part index slice ", " "+w+" ")
				isPart = isPart && !(isBounds && (w == "index" || w == "slice")) // that of a list
				isOff := n == index+1 || n == int(*l.spec.Completions)
				isOff = isOff || n == 0 && index == 0
				hasFailed := p.Containers[k].Ended && p.Containers[k].ExitCode != 0

				if isMeant := err == nil && isPart && isOff; !isMeant || !hasFailed {
					continue
				}
				return []hint{{text: fmt.Sprintf("it names %s %d, and pod %s has index %d: JOB_COMPLETION_INDEX "+
					"counts from 0 to %d", w, n, p.Name, index, *l.spec.Completions-1), points: []string{w},
					remedies: []*Remedy{
						when("its parts count from 1", l.again("let the program add 1 to JOB_COMPLETION_INDEX where "+
							"it needs the number, and nowhere else; indexes that have completed have done other "+
							"parts then"))}}}
			}
		}
	}
	return nil
}

// numbered finds names that end in a number, such as part-0001.parquet.
var numbered = regexp.MustCompile(`([\w./-]*[a-zA-Z_-])(\d+)(\.\w+)?`)

// numberedIn returns the names in a text that end in a number, without their folders.
func numberedIn(text string) map[string]bool {
	has := make(map[string]bool)
	for _, name := range numbered.FindAllString(text, -1) {
		has[name[strings.LastIndexByte(name, '/')+1:]] = true
	}
	return has
}

// fromOne returns a hint if all other indexes have succeeded, index 0 does not find the first of some names, and a line
// of its message lists those from 1 to the number of indexes.
func (l *look) fromOne(index int, message string) *hint {
	n := int(*l.spec.Completions)
	if l.succeeded() != int64(n-1) {
		return nil
	}

	for _, name := range sortedKeys(numberedIn(message)) {
		part := numbered.FindStringSubmatch(name)
		number := func(i int) string { return fmt.Sprintf("%s%0*d%s", part[1], len(part[2]), i, part[3]) }

		isListed, isMissing := false, false
		for line := range strings.SplitSeq(message, "\n") {
			there := numberedIn(line)
			hasEnds := there[number(1)] && there[number(n)]
			isListed = isListed || hasEnds && !there[name]
			isMissing = isMissing || there[name] && contains(line, "not found", "no such", "nosuch", "not exist")
		}

		isFirst := index == 0 && n > 1 && strings.Trim(part[2], "0") == ""
		if !isFirst || !isListed || !isMissing {
			continue
		}
		return &hint{
			text: fmt.Sprintf("index 0 wants %s, and there are %s to %s: JOB_COMPLETION_INDEX counts from 0 to %d, so "+
				"that the others have done the names of their own numbers, and none has done %s", name, number(1),
				number(n), n-1, number(n)),
			points:  []string{strings.ToLower(name)},
			settles: true,
			remedies: []*Remedy{
				inspect(fmt.Sprintf("do %s alone, with a Job of its own: what the other indexes have done is done, "+
					"and the same Job would do it again", number(n)), kubectl(l.job.Namespace, "get", "job",
					l.job.Name, "-o", "yaml")),
				inspect("for the next time, let the program add 1 to JOB_COMPLETION_INDEX where it needs the number; "+
					"look whether earlier Jobs lack their last one too", kubectl(l.job.Namespace, "get", "jobs")),
			},
		}
	}
	return nil
}

// rangeHints name the LimitRanges that set the limits of containers.
func (l *look) rangeHints() (all []hint) {
	points := []string{"limitrange", "maximum cpu", "maximum memory", "minimum cpu", "minimum memory"}
	for _, p := range l.pods[:min(1, len(l.pods))] {
		for _, c := range p.Spec.Containers {
			if c.MemoryLimit != "" && l.isRangeLimit(c.Name) {
				points = append(points, "oomkilled")
			}
		}
	}

	for _, x := range l.e.othersIn("LimitRange", l.job.Namespace) {
		for _, limit := range elements(x.At("spec.limits")) {
			fields, _ := limit.(map[string]any)
			var parts []string
			for _, key := range []string{"default", "defaultRequest", "max", "min", "maxLimitRequestRatio"} {
				if fields[key] != nil {
					parts = append(parts, key+" "+brief(written(fields[key])))
				}
			}
			text := fmt.Sprintf("LimitRange %s for each %s: %s", x.Key(), str(limit, "type"), list(parts))
			all = append(all, hint{text: text, points: points})
		}
	}
	return all
}

// quotedElsewhere are the reasons of the warnings that the findings about pods quote themselves.
const quotedElsewhere = " FailedScheduling Unhealthy BackOff Failed FailedMount FailedAttachVolume FailedMapVolume " +
	"FailedCreatePodSandBox FailedCreatePodContainer NetworkNotReady FailedToRetrieveImagePullSecret " +
	"FailedScaleUp ScaleUpTimedOut "

// warnings quotes the newest other warning about a pod that waits, and about the Job.
func (l *look) warnings() (all []hint) {
	for i, p := range l.pods {
		events := slices.DeleteFunc(slices.Clone(l.podEvents[i]), func(e read.Event) bool {
			return strings.Contains(quotedElsewhere, " "+e.Reason+" ")
		})
		isWaiting := l.snapshot.Pods[i].Phase == job.PodPending
		if e := latestWarning(events); e != nil && isWaiting {
			all = append(all, hint{text: fmt.Sprintf("the last warning about %s, %s %s: %s", p.Name, e.Reason,
				l.at(e.Last), told(e.Message)), name: p.Name})
		}
	}
	all = all[:min(1, len(all))]

	const known = " FailedCreate FailedDelete BackoffLimitExceeded DeadlineExceeded PodFailurePolicy FailedIndexes " +
		"TooManySucceededPods MaxFailedIndexesExceeded "
	e := latestWarning(l.events)
	if isNew := e != nil && l.now.Sub(e.Last) < time.Hour; isNew && !strings.Contains(known, " "+e.Reason+" ") {
		all = append(all, hint{
			text:   fmt.Sprintf("the last warning about the Job, %s %s: %s", e.Reason, l.at(e.Last), told(e.Message)),
			points: []string{"nothing has changed for"}, alone: true,
			remedies: []*Remedy{inspect("look at its events", kubectl(l.job.Namespace, "describe", "job", l.job.Name))},
		})
	}
	return all
}
