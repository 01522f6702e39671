import type { SourceCondition } from '@eyrie/contract'
import type { SystemAlertSettings } from '@eyrie/contract/management/system-alert'
import { createObservation, type Observation, type Subject, toPresence } from './observation.ts'
import { judgePicture, type PictureReference, type PictureVerdict } from './picture-rules.ts'

/** What was observed about a source. */
export interface SourceObservations {
  observations: Observation[]
  /** How the pictures of the source usually look, as learned so far. */
  reference: PictureReference | undefined
}

/** A source, and by what its condition is judged. */
export interface ObservedSource {
  subject: Subject
  /** How its pictures usually look; undefined if nothing was learned yet. */
  reference: PictureReference | undefined
  thresholds: SystemAlertSettings['thresholds']
}

/** Applies all rules about cameras to the condition of a source. */
export function observeSource(
  condition: SourceCondition,
  source: ObservedSource,
): SourceObservations {
  const picture = observePicture(condition, source)
  return {
    observations: [
      observeConnection(condition, source),
      observeFrameRate(condition, source),
      observeRecording(condition, source),
      ...picture.observations,
    ],
    reference: picture.reference,
  }
}

/** Only a camera is expected to send pictures all the time. */
const isCamera = ({ type }: SourceCondition) => type === 'video' || type === 'hosted_video'

function observeConnection(condition: SourceCondition, { subject }: ObservedSource): Observation {
  const { state, reason = 'it does not send pictures' } = condition
  const isLost = isCamera(condition) && state !== 'running' && state !== 'ended'
  return createObservation({
    kind: 'camera_unreachable',
    subject,
    presence: toPresence(isLost),
    reason,
  })
}

/**
 * Expects the configured frame rate, or that of the camera if it is lower. Without a configured
 * rate, expects all received frames to be analysed: many cameras declare a frame rate that they
 * never send, or send fewer frames at night.
 */
function observeFrameRate(
  condition: SourceCondition,
  { subject, thresholds }: ObservedSource,
): Observation {
  const failure = { kind: 'low_frame_rate', subject } as const
  const { state, rate, fps, received_fps: receivedFps, analysed_fps: analysedFps } = condition
  if (state !== 'running' || !isCamera(condition)) {
    return createObservation({ ...failure, presence: 'unknown' })
  }
  // A camera that is no longer analysed has no frame rate to complain about.
  if (analysedFps === undefined) return createObservation({ ...failure, presence: 'absent' })

  const expectedFps = rate === undefined ? receivedFps : Math.min(rate, fps ?? rate)
  if (!expectedFps) return createObservation({ ...failure, presence: 'unknown' })

  const minFps = (expectedFps * thresholds.frame_rate_percent) / 100
  const analysed = `${formatRate(analysedFps)} frames per second are analysed`
  const expected = ` instead of ${formatRate(expectedFps)}`
  const received =
    receivedFps === undefined ? '' : `, and the camera sends ${formatRate(receivedFps)}`
  return createObservation({
    ...failure,
    presence: toPresence(analysedFps < minFps),
    reason: analysed + expected + received,
  })
}

const formatRate = (fps: number) => String(Number(fps.toFixed(1)))

function observeRecording(
  { state, recording }: SourceCondition,
  { subject }: ObservedSource,
): Observation {
  const failure = { kind: 'recording_stopped', subject } as const
  const hasFailed = recording?.state === 'failed'
  // While a camera is lost, the alert about the camera is enough.
  if (state !== 'running' && !hasFailed) {
    return createObservation({ ...failure, presence: recording ? 'unknown' : 'absent' })
  }

  const isIdle = recording?.mode === 'continuous' && recording.state === 'waiting'
  return createObservation({
    ...failure,
    presence: toPresence(hasFailed || isIdle),
    reason: recording?.reason ?? 'the camera sends pictures, but none are recorded',
  })
}

function observePicture(condition: SourceCondition, source: ObservedSource): SourceObservations {
  const { subject } = source
  const { black, frozen, defocused, moved, reference } = judgePictureOf(condition, source)
  const stillSeconds = Math.round(condition.picture?.still_s ?? 0)
  return {
    observations: [
      createObservation({
        kind: 'picture_black',
        subject,
        presence: black,
        reason: 'the picture is black',
      }),
      createObservation({
        kind: 'picture_frozen',
        subject,
        presence: frozen,
        reason: `the picture has not changed for ${stillSeconds} seconds, not even by noise`,
      }),
      createObservation({
        kind: 'picture_defocused',
        subject,
        presence: defocused,
        reason: 'the picture is less sharp than usual',
      }),
      createObservation({
        kind: 'picture_moved',
        subject,
        presence: moved,
        reason: 'the camera shows another scene than usual',
      }),
    ],
    reference,
  }
}

/**
 * Judges the picture of a source. While it is not analysed, there is no picture, and no failure of
 * the picture is present.
 */
function judgePictureOf(
  { state, picture }: SourceCondition,
  { reference, thresholds }: ObservedSource,
): PictureVerdict {
  if (state === 'running' && picture) return judgePicture(picture, reference, thresholds)
  // Nothing is known about the pictures of a lost camera.
  const presence = state === 'running' ? 'absent' : 'unknown'
  return { black: presence, frozen: presence, defocused: presence, moved: presence, reference }
}
