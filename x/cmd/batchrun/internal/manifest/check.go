package manifest

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/batchplan/batchplan/job"
)

// Some fields of pods and containers are honoured, and some make no difference to processes on a
// bare machine. Any other field that is set is refused by name, since the pod might not work
// without it.
var (
	podHonoured = words(
		`containers initContainers volumes restartPolicy terminationGracePeriodSeconds hostname securityContext`)
	podIgnored = words(`nodeSelector nodeName affinity tolerations topologySpreadConstraints priority
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
	// A TTL is honoured in the job template of a CronJob. It is ignored in the manifest of a Job.
	templateHonoured = append(words(`ttlSecondsAfterFinished`), jobHonoured...)
	// envFields are the downward API fields that this program supports.
	envFields = words(`metadata.name metadata.namespace metadata.uid spec.nodeName`)
)

func words(text string) []string { return strings.Fields(text) }

// checkJob checks the spec of a job or of a job template.
func (d *document) checkJob(object map[string]any, j *Job, honoured []string) {
	spec, _ := object["spec"].(map[string]any)
	d.fields("spec", spec, honoured, jobIgnored)
	data, err := json.Marshal(spec)
	if err == nil {
		err = json.Unmarshal(data, &j.Spec)
	}
	if err != nil {
		d.reject("spec", "%v", err)
		return
	}
	job.Default(&j.Spec)
	if by, ours := job.ManagerOf(j.Spec, job.Options{}); !ours {
		d.reject("spec.managedBy", "%q: another controller would manage this job", by)
	}
	template, _ := spec["template"].(map[string]any)
	pod, _ := template["spec"].(map[string]any)
	d.checkPod(pod, j)
}

// fields refuses each field that is set, unless it is honoured or makes no difference.
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

// brief returns a value as JSON, and shortens it if it is long.
func brief(value any) string {
	data, _ := json.Marshal(value)
	if len(data) > 60 {
		return string(data[:57]) + "..."
	}
	return string(data)
}

// hides reports whether a mount at path would hide dir.
func hides(path, dir string) bool {
	path = filepath.Clean(path)
	return path == "/" || dir == path || strings.HasPrefix(dir, path+"/")
}
