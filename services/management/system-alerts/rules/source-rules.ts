import type { SourceCondition } from '@eyrie/contract'
import type { SystemAlertSettings } from '@eyrie/contract/management/system-alert'
import { createObservation, type Observation, type Subject } from './observation.ts'
import { judgePicture, type PictureReference, type PictureVerdict } from './picture-rules.ts'

/** What was observed about a source. */
export interface SourceObservations {
  observations: Observation[]
  /** How the pictures of the source usually look, as learned so far. */
  reference: PictureReference | undefined
}

type Thresholds = SystemAlertSettings['thresholds']

/** Applies all rules about cameras to the condition of a source. */
export function observeSource(
  condition: SourceCondition,
  subject: Subject,
  reference: PictureReference | undefined,
  thresholds: Thresholds,
): SourceObservations {
  const picture = observePicture(condition, subject, reference, thresholds)
  return {
    observations: [
      observeConnection(condition, subject),
      observeFrameRate(condition, subject, thresholds),
      observeRecording(condition, subject),
      ...picture.observations,
    ],
    reference: picture.reference,
  }
}

/** Only a camera is expected to send pictures all the time. */
const isCamera = ({ type }: SourceCondition) => type === 'video' || type === 'hosted_video'

function observeConnection(condition: SourceCondition, subject: Subject): Observation {
  const { state, reason = 'it does not send pictures' } = condition
  const isPresent = isCamera(condition) && state !== 'running' && state !== 'ended'
  return createObservation('camera_unreachable', subject, isPresent, reason)
}

/**
 * Expects the configured frame rate, or that of the camera if it is lower. Without a configured
 * rate, expects all received frames to be analysed: many cameras declare a frame rate that they
 * never send, or send fewer frames at night.
 */
function observeFrameRate(
  condition: SourceCondition,
  subject: Subject,
  { frame_rate_percent: frameRatePercent }: Thresholds,
): Observation {
  const observe = (isPresent: boolean | undefined, reason?: string) =>
    createObservation('low_frame_rate', subject, isPresent, reason)

  const { state, rate, fps, received_fps: receivedFps, analysed_fps: analysedFps } = condition
  if (state !== 'running' || !isCamera(condition)) return observe(undefined)
  // A camera that is no longer analysed has no frame rate to complain about.
  if (analysedFps === undefined) return observe(false)
  const expectedFps = rate === undefined ? receivedFps : Math.min(rate, fps ?? rate)
  if (!expectedFps) return observe(undefined)

  const isLow = analysedFps < (expectedFps * frameRatePercent) / 100
  const received =
    receivedFps === undefined ? '' : `, and the camera sends ${formatRate(receivedFps)}`
  const rates = `${formatRate(analysedFps)} frames per second are analysed instead of ${formatRate(expectedFps)}`
  return observe(isLow, rates + received)
}

const formatRate = (fps: number) => String(Number(fps.toFixed(1)))

function observeRecording({ state, recording }: SourceCondition, subject: Subject): Observation {
  const hasFailed = recording?.state === 'failed'
  // While a camera is lost, the alert about the camera is enough.
  if (state !== 'running' && !hasFailed) {
    return createObservation('recording_stopped', subject, recording ? undefined : false)
  }
  const isIdle = recording?.mode === 'continuous' && recording.state === 'waiting'
  const reason = recording?.reason ?? 'the camera sends pictures, but none are recorded'
  return createObservation('recording_stopped', subject, hasFailed || isIdle, reason)
}

function observePicture(
  condition: SourceCondition,
  subject: Subject,
  reference: PictureReference | undefined,
  thresholds: Thresholds,
): SourceObservations {
  const verdict = judgePictureOf(condition, reference, thresholds)
  const { isBlack, isFrozen, isDefocused, hasMoved } = verdict
  const stillSeconds = Math.round(condition.picture?.still_s ?? 0)
  const frozenReason = `the picture has not changed for ${stillSeconds} seconds, not even by noise`
  return {
    observations: [
      createObservation('picture_black', subject, isBlack, 'the picture is black'),
      createObservation('picture_frozen', subject, isFrozen, frozenReason),
      createObservation(
        'picture_defocused',
        subject,
        isDefocused,
        'the picture is less sharp than usual',
      ),
      createObservation(
        'picture_moved',
        subject,
        hasMoved,
        'the camera shows another scene than usual',
      ),
    ],
    reference: verdict.reference,
  }
}

/**
 * Judges the picture of a source. While it is not analysed, there is no picture, and no failure of
 * the picture is present.
 */
function judgePictureOf(
  { state, picture }: SourceCondition,
  reference: PictureReference | undefined,
  thresholds: Thresholds,
): PictureVerdict {
  if (state === 'running' && picture) return judgePicture(picture, reference, thresholds)
  // Nothing is known about the pictures of a lost camera.
  const isPresent = state === 'running' ? false : undefined
  return {
    isBlack: isPresent,
    isFrozen: isPresent,
    isDefocused: isPresent,
    hasMoved: isPresent,
    reference,
  }
}
