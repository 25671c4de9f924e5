package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// symptom is a kind of error that programs print, and what to do about it. The text of do has at most one
// %s, the host that the message names. If look is empty, the cause lies in the manifest or the image.
// Otherwise it names the kinds to look at.
type symptom struct {
	words    []string
	do, look string
}

const network, secrets = "services,endpointslices,networkpolicies", "secrets,serviceaccounts"

// Words of a message about the work of another program.
var (
	locked = []string{"deadlock", "lock wait timeout", "lock timeout", "could not obtain lock", "state lock",
		"advisory lock", "database is locked", "schema*is locked", "migration*is locked", "unable to lock"}
	existing = []string{"already exists", "duplicate key", "duplicate entry", "unique constraint"}
)

// symptoms are looked for in this order: what is special comes first.
var symptoms = []symptom{
	{[]string{"certificate has expired", "certificate*not yet valid", "certificate expired"},
		"renew the certificate of %s; if it is valid, the clock of the node is wrong", secrets},
	{[]string{"x509", "certificate verify failed", "self-signed certificate", "self signed certificate", "local issuer",
		"pkix path"}, "give the program the CA that has signed the certificate of %s, or use the host name that is " +
		"in the certificate", "configmaps,secrets"},
	{silentDNS, "look whether the DNS server answers, and whether a NetworkPolicy lets the pods ask it: the host " +
		"name %s was not looked up", network},
	{unresolved, "correct the host name %s: a name without a dot is looked up in the pod's own namespace, and " +
		"NAME.NAMESPACE in another one", network},
	{declined, "look what should listen at %s, and whether it is ready: nothing takes connections " +
		"there, or the Service has no ready pod", network},
	{[]string{"dirty database", "database*is dirty", "schema*is dirty", "migration*is dirty"},
		"repair the schema by hand before anything runs again: an earlier migration stopped halfway, and the tool " +
			"goes on only when somebody has looked what it had done", "jobs,pods"},
	{locked, "find out who holds the lock before anything runs again: another run, or one that was ended. Take it " +
		"off by hand only if its holder is certainly gone", "jobs,pods"},
	{[]string{"too many connections", "too many clients", "connection slots"}, "let fewer pods run at a time, or " +
		"raise the limit of the database: all its connections are taken", "jobs,pods"},
	{[]string{"#429", "too many requests", "toomanyrequests", "rate limit", "rate exceeded", "throttl"},
		"ask less often, with fewer pods at a time or longer pauses: the other side limits the rate", "jobs,pods"},
	{[]string{"publickey", "authentication failed", "access denied for user", "invalid username or password",
		"unauthorized", "#401", "invalid credentials", "token is expired", "token has expired", "expiredtoken",
		"could not read username", "unable to locate credentials", "invalidaccesskeyid", "signaturedoesnotmatch"},
		"correct the credentials that the program uses: the other side refuses them", secrets},
	{[]string{"accessdenied", "access denied", "#403", "403 forbidden", "not authorized to perform",
		"permission_denied", "insufficient privilege", "permission denied for"},
		"give the identity that the program uses the right: the other side knows it, and does not let it " +
			"do this", secrets},
	{[]string{"shared memory", "/dev/shm", "bus error"}, "mount a volume with emptyDir {medium: Memory} at /dev/shm, " +
		"which has only 64 MiB otherwise, and count it into the memory limit", ""},
	{[]string{"too many open files", "emfile"}, "let the program close files, or raise its limit of open files with " +
		"ulimit -n in its command, up to the hard limit of the node's runtime (a pod has no field for it)", ""},
	{[]string{"address already in use", "eaddrinuse"}, "choose another port (the containers of a pod share its " +
		"ports, and with hostNetwork all pods of a node do)", ""},
	{[]string{"no space left", "enospc", "disk quota exceeded"}, "make room, or give it a larger volume: what it " +
		"writes to is full", "persistentvolumeclaims"},
	{[]string{"read-only file system", "erofs"}, "let it write to a volume, such as an emptyDir (the place that it " +
		"names cannot be written)", ""},
	{[]string{"permission denied", "eacces", "operation not permitted"}, "give the user of the container the rights " +
		"on what it names", ""},
	{[]string{"unknown flag", "unrecognized argument", "unrecognized option", "no such option", "unknown option",
		"not defined: -", "invalid option", "unknown command"}, "correct command or args (the program of this image " +
		"does not know the option)", ""},
	{[]string{"no module named", "modulenotfound", "cannot find module", "classnotfound", "noclassdeffound",
		"cannot open shared object", "cannot find package", "cannot load such file"}, "build the image with the part " +
		"that it names, or start the program where that is", ""},
	{[]string{"no such table", "unknown column", "relation \"*does not exist", "undefined table", "unknown table",
		"table '*doesn't exist", "table '*does not exist"},
		"look whether the schema is up to date: a migration may have to run before this", "jobs,pods"},
	{existing, "look what an earlier try " +
		"has left: the work must accept its own traces before it is done again", "jobs,pods"},
	{[]string{"502 bad gateway", "503 service", "504 gateway", "500 internal server error", "service unavailable"},
		"look at the other side, %s: it has answered with an error of its own", network},
	{unanswered, "look what lies between the pod and %s: nothing has answered, as with a NetworkPolicy, a firewall " +
		"or a wrong address", network},
	{[]string{"keyerror", "is not set", "must be set", "missing required env", "environment variable"},
		"set the environment variable that it names, in env of the container", ""},
	{[]string{"no such file or directory", "filenotfound", "enoent"}, "correct the path, or mount what should be " +
		"there (it does not exist in the container)", ""},
}

// symptomOf returns the kind of error that a message shows, and its line, or nil and the last line. An earlier
// line counts only if the last one is not an error of another kind.
func symptomOf(message string) (s *symptom, line string) {
	lines := strings.Split(message, "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.TrimSpace(l) == "" })
	if len(lines) == 0 {
		return nil, ""
	}

	last := lines[len(lines)-1]
	for _, line := range slices.Backward(lines) {
		if isChatter(line) {
			continue
		}
		for i := range symptoms {
			if contains(line+" #"+statusIn(line), symptoms[i].words...) {
				return &symptoms[i], line
			}
		}
		isEnd := contains(line, "exit status", "exit code", "exited with")
		if contains(line, "error: ", "exception: ", "exception in ", "panic: ", "fatal: ") && !isEnd {
			return nil, line
		}
	}
	return nil, last
}

// isChatter reports whether a line is no error.
func isChatter(line string) bool {
	return contains(line, "skipping", "level=info", "level=warn", "level=debug") ||
		slices.ContainsFunc(wordsIn(line), func(w string) bool {
			return w != "" && strings.Contains(" NOTICE INFO WARN WARNING DEBUG ", " "+w+" ")
		})
}

// statusIn returns the HTTP status that a line names, or "".
func statusIn(line string) string {
	words := strings.FieldsFunc(strings.ToLower(line), func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789", r)
	})
	for i, w := range words {
		before := " " + strings.Join(words[max(i-3, 0):i], " ")
		before = strings.TrimSuffix(strings.TrimRight(before, " 012"), " error") // as in HTTP/1.1 429
		isStatus := strings.HasSuffix(before, "status") || strings.HasSuffix(before, "code")
		isStatus = isStatus || strings.HasSuffix(before, " http") || strings.HasSuffix(before, " returned")
		if isStatus && len(w) == 3 && strings.Trim(w, "0123456789") == "" {
			return w
		}
	}
	return ""
}

// startWith says what to do about what a container has printed: it begins with that, and with the log only
// if nothing of it is known.
func (l *look) startWith(p *read.Pod, c *read.Container, end read.End, previous bool) []*Remedy {
	logs := l.logs(p, c.Name, previous)
	s, line := symptomOf(end.Message)
	if line == "" || neverRan(end.Reason) {
		return []*Remedy{logs, l.rerun("correct what makes it fail")}
	}

	logs = when("this does not show why", withDo(logs, strings.Replace(logs.Do, "Read what", "read all that", 1)))
	_, isRefused := refusedIn(end.Message, l.job.Namespace)
	switch {
	case isRefused:
		return []*Remedy{l.rerun("correct what makes it fail"), logs} // notAllowed says how
	case s == nil:
		return []*Remedy{l.rerun("correct the cause of " + inQuotes(line)), logs}
	case s.look == "":
		return []*Remedy{l.again(s.do), logs}
	}

	do, ns := s.do, l.job.Namespace
	if strings.Contains(do, "%s") {
		host, port := hostIn(line)
		if port > 0 && host != "" {
			host += fmt.Sprint(":", port)
		}
		do = fmt.Sprintf(do, cmp.Or(host, "the host that it names"))
		do = strings.ReplaceAll(do, "name the host that it names", "name that it gives")
	}
	return []*Remedy{inspect(do, kubectl(ns, "get", s.look)), l.rerun("correct what makes it fail"), logs}
}

// inQuotes quotes the start of a line.
func inQuotes(line string) string {
	const most = 160
	line = strings.Join(strings.Fields(strings.ReplaceAll(line, `"`, "'")), " ")
	if r := []rune(line); len(r) > most {
		line = string(r[:most]) + "…"
	}
	return `"` + line + `"`
}

// awaits says what to do about an init container that does not end.
func (l *look) awaits(p *read.Pod, c *read.Container) []*Remedy {
	all := l.startWith(p, c, read.End{Message: c.Message}, false)
	all = slices.DeleteFunc(all, func(r *Remedy) bool { return len(r.Acts()) > 0 }) // it has not failed
	if c.Message == "" {
		all = []*Remedy{when("it waits for something that is not there", withDo(all[0], "read what it printed, and "+
			"start what it waits for"))}
	}
	return all
}
