package probe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// field is one leaf of an object: its path and its value.
type field struct{ key, value string }

// hidden matches the fields that no controller of jobs reads, or that recorder describes in its own
// words. Most are defaults of containers, or set by admission.
var hidden = regexp.MustCompile(`^(` + strings.Join([]string{
	`metadata\.(managedFields|namespace|resourceVersion)`,
	`(spec\.template\.|spec\.jobTemplate\.spec\.template\.)?spec\.` +
		`(dnsPolicy|schedulerName|securityContext|enableServiceLinks|preemptionPolicy|priority)$`,
	`spec\.tolerations\[`,
	`.*[cC]ontainers\[\d+\]\.(imagePullPolicy|terminationMessage.*|resources)$`,
}, "|") + `)`)

func podFields(p *corev1.Pod) []field          { return leaves(p) }
func cronJobFields(c *batchv1.CronJob) []field { return leaves(c) }
func eventFields(e *corev1.Event) []field      { return leaves(e) }

// jobFields adds what JSON does not show: whether a time has more than whole seconds.
func jobFields(j *batchv1.Job) []field {
	fields := leaves(j)
	fields = append(fields, fraction("status.startTime", j.Status.StartTime)...)
	fields = append(fields, fraction("status.completionTime", j.Status.CompletionTime)...)
	for i := range j.Status.Conditions {
		name := fmt.Sprintf("status.conditions[%d].lastTransitionTime", i)
		fields = append(fields, fraction(name, &j.Status.Conditions[i].LastTransitionTime)...)
	}
	return fields
}

func fraction(key string, t *metav1.Time) []field {
	if t == nil || t.Nanosecond() == 0 {
		return nil
	}
	return []field{{key + ".fraction", time.Duration(t.Nanosecond()).String()}}
}

// leaves lists the fields of an object as its JSON has them.
func leaves(o any) []field {
	data, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	var tree map[string]any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // a float64 would not print as it was sent
	if err := decoder.Decode(&tree); err != nil {
		panic(err)
	}
	var fields []field
	flatten("", tree, &fields)
	return fields
}

func flatten(key string, v any, fields *[]field) {
	switch v := v.(type) {
	case map[string]any:
		flattenMap(key, v, fields)
	case []any:
		flattenList(key, v, fields)
	default:
		add(key, scalar(v), fields)
	}
}

func flattenMap(key string, m map[string]any, fields *[]field) {
	if len(m) == 0 && key != "spec" && key != "status" {
		add(key, "{}", fields)
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		flatten(strings.TrimPrefix(key+"."+k, "."), m[k], fields)
	}
}

// flattenList puts plain values on one line and gives objects lines of their own.
func flattenList(key string, list []any, fields *[]field) {
	var plain []string
	for i, v := range list {
		if m, ok := v.(map[string]any); ok {
			flattenMap(fmt.Sprintf("%s[%d]", key, i), m, fields)
		} else {
			plain = append(plain, scalar(v))
		}
	}
	if len(plain) > 0 || len(list) == 0 {
		add(key, "["+strings.Join(plain, ",")+"]", fields)
	}
}

// add appends a field unless it is hidden, without the prefix "metadata.".
func add(key, value string, fields *[]field) {
	if !hidden.MatchString(key) {
		*fields = append(*fields, field{strings.TrimPrefix(key, "metadata."), value})
	}
}

func scalar(v any) string {
	switch v := v.(type) {
	case string:
		if t, err := time.Parse(time.RFC3339, v); err == nil {
			return when(t)
		}
		if v == "" || strings.ContainsAny(v, " \n") {
			return fmt.Sprintf("%q", v)
		}
		return v
	case nil:
		return "null"
	default:
		return fmt.Sprint(v)
	}
}

// when describes a time. A time near now is given as its rounded distance from now, so that a slow
// machine gives the same text. Any other time is given in full.
func when(t time.Time) string {
	distance := time.Until(t)
	if distance.Abs() > 12*time.Hour {
		return t.UTC().Format(time.RFC3339)
	}
	if distance = distance.Round(10 * time.Second); distance == 0 {
		return "now"
	}
	return fmt.Sprintf("now%+ds", int(distance.Seconds()))
}
