package manifest

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/batchplan/batchplan/job"
)

// Fields of pods and containers that are honoured, and those that make no
// difference to processes on a bare machine. Any other field that is set is refused
// by name: without a field that this program does not know, the run could be wrong.
var (
	podHonoured = words(`containers initContainers volumes restartPolicy terminationGracePeriodSeconds hostname securityContext`)
	podIgnored  = words(`nodeSelector nodeName affinity tolerations topologySpreadConstraints priority
		priorityClassName preemptionPolicy schedulerName runtimeClassName overhead imagePullSecrets
		serviceAccountName serviceAccount automountServiceAccountToken enableServiceLinks dnsPolicy dnsConfig
		hostNetwork hostPID hostIPC hostUsers shareProcessNamespace subdomain setHostnameAsFQDN
		readinessGates os resources`)
	containerHonoured = words(`name command args workingDir env volumeMounts restartPolicy securityContext`)
	containerIgnored  = words(`image imagePullPolicy resources resizePolicy ports readinessProbe
		terminationMessagePath terminationMessagePolicy stdin stdinOnce tty`)
	jobHonoured = words(`parallelism completions completionMode backoffLimit backoffLimitPerIndex
		maxFailedIndexes activeDeadlineSeconds suspend podFailurePolicy successPolicy podReplacementPolicy
		managedBy template`)
	jobIgnored = words(`ttlSecondsAfterFinished selector manualSelector`)
	// Jobs of a CronJob come and go by themselves.
	templateHonoured = append(words(`ttlSecondsAfterFinished`), jobHonoured...)
	// envFields are the downward API fields that this program supports.
	envFields = words(`metadata.name metadata.namespace metadata.uid spec.nodeName`)
)

func words(text string) []string { return strings.Fields(text) }

// maxName is the longest name that fits into a label.
const maxName = 63

// checkNamespace checks the namespace of an object.
func (d *document) checkNamespace(namespace string) {
	if !isLabel(namespace) {
		d.reject("metadata.namespace", "%q: %s", namespace, notLabel)
	}
}

// checkJobName checks the name of a job of a manifest.
func (d *document) checkJobName(name string) {
	switch {
	case name == "":
		d.reject("metadata.name", "is required")
	case len(name) > maxName:
		d.reject("metadata.name", "%q: must not be longer than %d bytes", name, maxName)
	default:
		for part := range strings.SplitSeq(name, ".") {
			if !isLabel(part) {
				d.reject("metadata.name", "%q: each part between dots %s", name, notLabel)
				break
			}
		}
	}
}

// checkJob checks the spec of a job or of a job template.
func (d *document) checkJob(object map[string]any, j *Job, honoured []string) {
	spec, _ := object["spec"].(map[string]any)
	d.fields("spec", spec, honoured, jobIgnored)
	d.checkPlannerSpec(spec, j)
	if by, ours := job.ManagerOf(&j.Spec, &job.Options{}); !ours {
		d.reject("spec.managedBy", "%q: another controller would manage this job", by)
	}
	template, _ := spec["template"].(map[string]any)
	pod, _ := template["spec"].(map[string]any)
	d.checkPod(pod, j)
}

// checkPlannerSpec lets the library check the part of the spec that it plans from.
func (d *document) checkPlannerSpec(spec map[string]any, j *Job) {
	data, err := json.Marshal(spec)
	if err == nil {
		err = json.Unmarshal(data, &j.Spec)
	}
	if err != nil {
		d.reject("spec", "%v", err)
		return
	}
	job.Default(&j.Spec)
	d.rejectAll(job.Validate(j.Spec))
}

// rejectAll notes the problems that the library reports.
func (d *document) rejectAll(err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			d.rejectAll(e)
		}
		return
	}
	var input *job.InputError
	switch {
	case errors.As(err, &input):
		field := input.Field
		if !strings.HasPrefix(field, "spec") && !strings.HasPrefix(field, "metadata") {
			field = "spec." + field
		}
		d.reject(field, "%s: %s", input.Value, input.Problem)
	case err != nil:
		d.reject("spec", "%v", err)
	}
}

// fields refuses the fields that are set but neither honoured nor harmless.
func (d *document) fields(path string, object map[string]any, honoured, ignored []string) {
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		switch {
		case isUnset(object[name]) || slices.Contains(honoured, name):
		case slices.Contains(ignored, name):
			d.ignored = append(d.ignored, name)
		default:
			d.reject(path+"."+name, "%s: not supported by this runner", brief(object[name]))
		}
	}
}

func isUnset(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// brief returns a value as JSON, cut short.
func brief(value any) string {
	data, _ := json.Marshal(value)
	if len(data) > 60 {
		return string(data[:57]) + "..."
	}
	return string(data)
}

const notLabel = "must consist of at most 63 lower case letters, digits and '-', and begin and end with a letter or digit"

// isLabel reports whether a name is a DNS label, as the names of namespaces, volumes and
// containers are.
func isLabel(name string) bool {
	if name == "" || len(name) > maxName || name[0] == '-' || name[len(name)-1] == '-' {
		return false
	}
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// hides reports whether a mount at path would hide dir.
func hides(path, dir string) bool {
	path = filepath.Clean(path)
	return path == "/" || dir == path || strings.HasPrefix(dir, path+"/")
}
