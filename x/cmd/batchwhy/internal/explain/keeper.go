package explain

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// keeper is a tool that creates an object from a source, such as a chart, and can create it again. So
// a user changes the source and not the object.
type keeper struct {
	name    string // such as "Argo CD"; empty if there is no tool
	source  string // where a user changes the object
	command string // lets the tool create the object again
	of      string // the name of the tool's own object, such as a release
}

// keeperOf finds the tool that keeps an object, by its labels and annotations.
func keeperOf(m *read.Meta) keeper {
	marks := map[string]string{}
	for key, value := range m.Labels {
		marks[key] = value
	}

	// The other marks are not labels, although a label of a user may have the same key.
	tracked, _, _ := strings.Cut(m.Annotations["argocd.argoproj.io/tracking-id"], ":")
	marks["argocd"] = cmp.Or(tracked, m.Labels["argocd.argoproj.io/instance"])
	marks["kustomize"] = ""
	if marks["helm"] = m.Annotations["meta.helm.sh/release-name"]; marks["helm"] == "" &&
		marks["app.kubernetes.io/managed-by"] == "Helm" {
		marks["helm"] = "RELEASE"
	}
	if strings.HasPrefix(marks["app.kubernetes.io/managed-by"], "kustomize") {
		marks["kustomize"] = "."
	}

	for _, k := range []struct{ mark, name, source, command, namespace string }{
		{"argocd", "Argo CD", "the source of application ", "argocd app sync ", ""},
		{"helm.toolkit.fluxcd.io/name", "Flux", "HelmRelease ", "flux reconcile helmrelease --force ",
			marks["helm.toolkit.fluxcd.io/namespace"]},
		{"kustomize.toolkit.fluxcd.io/name", "Flux", "the source of Kustomization ",
			"flux reconcile kustomization --with-source ", marks["kustomize.toolkit.fluxcd.io/namespace"]},
		{"helm", "Helm", "the chart or the values of release ", "helm upgrade --reuse-values ",
			cmp.Or(m.Annotations["meta.helm.sh/release-namespace"], m.Namespace)},
		{"kustomize", "Kustomize", "the kustomization in ", "kubectl apply -k ", m.Namespace},
	} {
		value := marks[k.mark]
		if value == "" {
			continue
		}

		command := k.command + quote(value)
		if k.mark == "helm" {
			command += " CHART"
		}
		if k.namespace != "" {
			command += " -n " + quote(k.namespace)
		}
		return keeper{k.name, k.source + value, command, value}
	}
	return keeper{}
}

// setBack warns that the tool or the owner that created an object may undo a change that is made
// only to the object.
func setBack(m *read.Meta) string {
	owner := m.Controller()
	switch k := keeperOf(m); {
	case k.name != "":
		return fmt.Sprintf("; %s may set it back: change %s as well", k.name, k.source)
	case owner.Kind != "" && owner.Kind != "CronJob":
		return fmt.Sprintf("; %s %s, which has created it, may set it back: change it there as well", owner.Kind,
			owner.Name)
	}
	return ""
}
