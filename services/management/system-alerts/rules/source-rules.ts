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

/**
 * Returns whether a source is a camera, connected directly or through another appliance. Other
 * sources, such as files, are not expected to send pictures all the time.
 */
const isCamera = ({ type }: SourceCondition) => type === 'video' || type === 'hosted_video'

function observeConnection(condition: SourceCondition, { subject }: ObservedSource): Observation {
  const isConnected = condition.state === 'running' || condition.state === 'ended'
  return createObservation({
    kind: 'camera_unreachable',
    subject,
    presence: toPresence(isCamera(condition) && !isConnected),
    reason: condition.reason ?? 'it does not send pictures',
  })
}

/** Observes whether fewer frames of a camera are analysed than expected. */
function observeFrameRate(
  condition: SourceCondition,
  { subject, thresholds }: ObservedSource,
): Observation {
  const failure = { kind: 'low_frame_rate', subject } as const
  const { state, received_fps: receivedFps, analysed_fps: analysedFps } = condition
  if (state !== 'running' || !isCamera(condition)) {
    return createObservation({ ...failure, presence: 'unknown' })
  }
  // Without an analysis, no frame rate is expected.
  if (analysedFps === undefined) return createObservation({ ...failure, presence: 'absent' })
  const expectedFps = computeExpectedFps(condition)
  if (!expectedFps) return createObservation({ ...failure, presence: 'unknown' })

  const minFps = (expectedFps * thresholds.frame_rate_percent) / 100
  const analysed = `${formatRate(analysedFps)} frames per second are analysed`
  const reason = `${analysed} instead of ${formatRate(expectedFps)}`
  return createObservation({
    ...failure,
    presence: toPresence(analysedFps < minFps),
    reason:
      receivedFps === undefined
        ? reason
        : `${reason}, and the camera sends ${formatRate(receivedFps)}`,
  })
}

/**
 * Returns the configured frame rate, or the declared rate of the camera if it is lower. Without a
 * configured rate, all received frames are expected: cameras may send fewer frames than they
 * declare, always or at night.
 */
function computeExpectedFps({ rate, fps, received_fps }: SourceCondition): number | undefined {
  if (rate === undefined) return received_fps
  return fps === undefined ? rate : Math.min(rate, fps)
}

const formatRate = (fps: number) => String(Number(fps.toFixed(1)))

function observeRecording(
  { state, recording }: SourceCondition,
  { subject }: ObservedSource,
): Observation {
  const failure = { kind: 'recording_stopped', subject } as const
  if (!recording) return createObservation({ ...failure, presence: 'absent' })
  const hasFailed = recording.state === 'failed'
  // While a camera sends nothing, nothing can be recorded. The alert about the camera is enough.
  if (state !== 'running' && !hasFailed) {
    return createObservation({ ...failure, presence: 'unknown' })
  }

  const isIdle = recording.mode === 'continuous' && recording.state === 'waiting'
  return createObservation({
    ...failure,
    presence: toPresence(hasFailed || isIdle),
    reason: recording.reason ?? 'the camera sends pictures, but none are recorded',
  })
}

function observePicture(condition: SourceCondition, source: ObservedSource): SourceObservations {
  const { subject } = source
  const { black, frozen, defocused, moved, reference } = judgeIfAnalysed(condition, source)
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

/** Judges the picture of a source. There is a picture only while the source is analysed. */
function judgeIfAnalysed(
  { state, picture }: SourceCondition,
  { reference, thresholds }: ObservedSource,
): PictureVerdict {
  if (state === 'running' && picture) return judgePicture(picture, reference, thresholds)
  // A source that is not analysed has no failures of the picture. Nothing is known about the
  // picture of a camera that is not connected.
  const presence = state === 'running' ? 'absent' : 'unknown'
  return { black: presence, frozen: presence, defocused: presence, moved: presence, reference }
}
