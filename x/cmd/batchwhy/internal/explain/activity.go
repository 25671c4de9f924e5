package explain

import (
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// activity describes what the containers of a pod do.
type activity struct {
	// working is true while a container that does the work runs.
	working bool
	// helpers are containers that still run although the containers that do the work have ended.
	// The pod ends when the helpers end.
	helpers []read.Container
	// ended are the containers that did the work, if helpers keep the pod running.
	ended []read.Container
	// stopping are native sidecars that still run although all other containers have ended.
	stopping []read.Container
	// guessed is true if helpers is a guess, made from the order of the containers or from the time
	// since the others ended.
	guessed bool
}

// If a container still runs endedLong after the last end of another one, it counts as a helper.
const endedLong = 15 * time.Minute

// activityOf finds out which containers of a pod work. template has the names of the containers of the
// Job's template.
func activityOf(p *read.Pod, pod *job.Pod, template map[string]bool, now time.Time) (a activity) {
	if pod.Phase != job.PodRunning && pod.Phase != job.PodPending {
		return a
	}

	var running, ended, waiting, sidecars []read.Container
	for _, c := range p.Containers {
		switch {
		case c.Sidecar && c.Running:
			sidecars = append(sidecars, c)
		case c.Init:
		case c.Running:
			running = append(running, c)
		case c.Ended:
			ended = append(ended, c)
		default:
			waiting = append(waiting, c)
		}
	}

	if pod.Phase == job.PodRunning && len(p.Containers) == 0 {
		return activity{working: pod.Deletion == nil} // no container is known
	}

	a.working = len(running) > 0 && pod.Deletion == nil

	if len(ended) > 0 && len(running)+len(waiting) == 0 && pod.Deletion == nil {
		a.stopping, a.ended = sidecars, ended
	}

	switch {
	case len(ended) == 0, len(running) == 0, len(waiting) > 0, pod.Deletion != nil:
		return a
	}

	known := 0
	for _, c := range running {
		if isHelper(c.Name, p.Spec.Container(c.Name).Image) || len(template) > 0 && !template[c.Name] {
			known++
		}
	}
	switch {
	case known == len(running):
		return activity{helpers: running, ended: ended}
	case hasName(ended, firstOf(&p.Spec)), now.Sub(latestEnd(ended)) > endedLong:
		return activity{helpers: running, ended: ended, guessed: true, working: true}
	}
	return a
}

func hasName(containers []read.Container, name string) bool {
	return slices.ContainsFunc(containers, func(c read.Container) bool { return c.Name == name })
}

// helpers are parts of the names of containers that support others and do not end by themselves.
const helpers = "istio-proxy linkerd-proxy cloud-sql-proxy cloudsql-proxy cloudsql alloydb-auth-proxy " +
	"vault-agent envoy consul-connect consul-dataplane daprd kuma-sidecar fluent-bit fluentbit fluentd " +
	"filebeat promtail vector datadog-agent otel-collector otc-container opentelemetry " +
	"gke-gcsfuse-sidecar osm-sidecar nginx-proxy tailscale oauth2-proxy pgbouncer aws-otel secrets-store " +
	"log-shipper logging-sidecar sidecar gce-proxy proxyv2 xray-daemon cloudwatch-agent fluent telegraf " +
	"statsd-exporter node-exporter jaeger-agent splunk newrelic csi-proxy minio-console"

// isHelper reports whether a container has the name or the image of a helper.
func isHelper(name, image string) bool {
	if at := strings.LastIndexByte(image, '/'); at >= 0 {
		image = image[at+1:]
	}
	for helper := range strings.FieldsSeq(helpers) {
		if strings.Contains(name, helper) || strings.HasPrefix(image, helper) {
			return true
		}
	}
	return false
}
