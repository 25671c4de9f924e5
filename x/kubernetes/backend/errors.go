package backend

import (
	"errors"
	"regexp"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// isOtherUID reports whether a patch has failed because another object has the name now. A server
// takes the UID in a patch for a change of the UID, which is invalid. A patch may also be invalid
// for other reasons, for example if the server no longer accepts the object. Then the object still
// exists.
func isOtherUID(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	for _, cause := range status.Status().Details.Causes {
		if cause.Type == metav1.CauseTypeFieldValueInvalid && cause.Field == "metadata.uid" {
			return true
		}
	}
	return false
}

// isGone reports whether a deletion on condition of the UID has found no object, or one with
// another UID.
func isGone(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsConflict(err) && otherUIDInPrecondition.MatchString(err.Error())
}

// otherUIDInPrecondition matches the message by which a server reports that the UID differs. No
// field of the error shows it. After any other conflict the object may still exist, so the conflict
// is an error, and the deletion is retried.
var otherUIDInPrecondition = regexp.MustCompile(`UID in (the )?precondition`)
