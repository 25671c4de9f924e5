package explain

import (
	"fmt"
	"strings"

	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// keeper is the tool that has made an object from a source of its own, by its labels and annotations. It makes the
// object again from there, so changes belong there. The name is empty if there is none.
type keeper struct {
	name   string // such as "Argo CD"
	source string // where a person changes the object
	// command lets the tool make the object anew.
	command string
}

// keeperOf tells who keeps an object.
func keeperOf(m *read.Meta) keeper {
	release, namespace := m.Annotations["meta.helm.sh/release-name"], m.Annotations["meta.helm.sh/release-namespace"]
	app, isTracked := m.Annotations["argocd.argoproj.io/tracking-id"]
	if app, _, _ = strings.Cut(app, ":"); !isTracked {
		app = m.Labels["argocd.argoproj.io/instance"]
	}
	const flux, fluxHelm = "kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/"
	managedBy := m.Labels["app.kubernetes.io/managed-by"]

	switch {
	case app != "":
		return keeper{
			name:    "Argo CD",
			source:  fmt.Sprintf("the source of application %s", app),
			command: "argocd app sync " + quote(app),
		}
	case m.Labels[fluxHelm+"name"] != "":
		name := m.Labels[fluxHelm+"name"]
		return keeper{
			name:    "Flux",
			source:  fmt.Sprintf("HelmRelease %s", name),
			command: "flux reconcile helmrelease " + quote(name) + " -n " + quote(m.Labels[fluxHelm+"namespace"]) + " --force",
		}
	case m.Labels[flux+"name"] != "":
		name := m.Labels[flux+"name"]
		return keeper{
			name:    "Flux",
			source:  fmt.Sprintf("the source of Kustomization %s", name),
			command: "flux reconcile kustomization " + quote(name) + " -n " + quote(m.Labels[flux+"namespace"]) + " --with-source",
		}
	case release != "" || strings.EqualFold(managedBy, "Helm"):
		if release == "" {
			release = "RELEASE"
		}
		if namespace == "" {
			namespace = m.Namespace
		}
		return keeper{
			name:    "Helm",
			source:  fmt.Sprintf("the chart or the values of release %s", release),
			command: "helm upgrade " + quote(release) + " CHART -n " + quote(namespace),
		}
	case strings.HasPrefix(managedBy, "kustomize"):
		return keeper{
			name:    "Kustomize",
			source:  "the kustomization",
			command: kubectl(m.Namespace, "apply", "-k", "."),
		}
	}
	return keeper{}
}

// setBack says that whoever keeps an object may undo a change that is made to it alone.
func setBack(m *read.Meta) string {
	owner := m.Controller()
	switch k := keeperOf(m); {
	case k.name != "":
		return fmt.Sprintf("; %s may set it back: change %s as well", k.name, k.source)
	case owner.Kind != "" && owner.Kind != "CronJob":
		return fmt.Sprintf("; %s %s, which has created it, may set it back: change it there as well", owner.Kind, owner.Name)
	}
	return ""
}
