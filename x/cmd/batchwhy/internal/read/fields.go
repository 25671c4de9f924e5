package read

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// fieldNames are the fields of those parts of a manifest in which a misspelled one is easily
// overlooked. An object that a server has accepted is not compared with them: it may be newer.
var fieldNames = map[string]string{
	"object":    "apiVersion kind metadata spec status",
	"job":       "activeDeadlineSeconds backoffLimit backoffLimitPerIndex completionMode completions managedBy manualSelector maxFailedIndexes parallelism podFailurePolicy podReplacementPolicy scheduling selector successPolicy suspend template ttlSecondsAfterFinished",
	"cronjob":   "concurrencyPolicy failedJobsHistoryLimit jobTemplate schedule startingDeadlineSeconds successfulJobsHistoryLimit suspend timeZone",
	"template":  "metadata spec",
	"pod":       "activeDeadlineSeconds affinity automountServiceAccountToken containers dnsConfig dnsPolicy enableServiceLinks ephemeralContainers hostAliases hostIPC hostNetwork hostPID hostUsers hostname hostnameOverride imagePullSecrets initContainers nodeName nodeSelector os overhead preemptionPolicy priority priorityClassName readinessGates resourceClaims resources restartPolicy runtimeClassName schedulerName schedulingGates schedulingGroup securityContext serviceAccount serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain terminationGracePeriodSeconds tolerations topologySpreadConstraints volumes workloadRef",
	"container": "args command env envFrom image imagePullPolicy lifecycle livenessProbe name ports readinessProbe resizePolicy resources restartPolicy restartPolicyRules securityContext startupProbe stdin stdinOnce terminationMessagePath terminationMessagePolicy tty volumeDevices volumeMounts workingDir",
}

// Unknown is a field of a manifest that does not exist.
type Unknown struct {
	// Path leads to the field, and Names are those that exist beside it.
	Path  string
	Names []string
}

// fields is a part of a manifest.
type fields map[string]json.RawMessage

// unknownFields finds the fields of the manifest of a Job or CronJob that do not exist.
func unknownFields(data []byte, kind string) (all []Unknown) {
	check := func(path string, data json.RawMessage, part string) fields {
		var found fields
		if json.Unmarshal(data, &found) != nil {
			return nil // what is not an object is an error elsewhere
		}
		names := strings.Fields(fieldNames[part])
		for name := range found {
			if !slices.Contains(names, name) {
				all = append(all, Unknown{strings.TrimPrefix(path+"."+name, "."), names})
			}
		}
		return found
	}
	spec, path := check("", data, "object")["spec"], "spec"
	if kind == "CronJob" {
		jobs := check(path, spec, "cronjob")["jobTemplate"]
		path += ".jobTemplate"
		spec = check(path, jobs, "template")["spec"]
		path += ".spec"
	}
	template := check(path, spec, "job")["template"]
	path += ".template"
	pod := check(path+".spec", check(path, template, "template")["spec"], "pod")
	for _, list := range []string{"initContainers", "containers"} {
		var containers []json.RawMessage
		if json.Unmarshal(pod[list], &containers) != nil {
			continue
		}
		for i, c := range containers {
			check(fmt.Sprintf("%s.spec.%s[%d]", path, list, i), c, "container")
		}
	}
	slices.SortFunc(all, func(a, b Unknown) int { return strings.Compare(a.Path, b.Path) })
	return all
}
