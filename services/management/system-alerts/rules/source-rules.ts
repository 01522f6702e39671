import type { SourceCondition } from '@eyrie/contract'
import type { SystemAlertSettings } from '@eyrie/contract/management/system-alert'
import type { Observation, Subject } from './observation.ts'
import { judgePicture, type PictureReference, type PictureVerdict } from './picture-rules.ts'

/** What was observed about a source, and the learned appearance of its pictures. */
export interface SourceObservations {
  observations: Observation[]
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

/** Only a camera is expected to be always there. */
const isCamera = ({ type }: SourceCondition) => type === 'video' || type === 'hosted_video'

function observeConnection(condition: SourceCondition, subject: Subject): Observation {
  const { state, reason = 'it does not send pictures' } = condition
  const isPresent = isCamera(condition) && state !== 'running' && state !== 'ended'
  return { kind: 'camera_unreachable', subject, isPresent, reason: isPresent ? reason : '' }
}

/**
 * With a configured rate, the expected frame rate is this one, or that of the camera if it is lower. Without, all received frames
 * are expected to be analysed: many cameras declare a frame rate that they never send, or send fewer frames at night.
 */
function observeFrameRate(
  condition: SourceCondition,
  subject: Subject,
  { frame_rate_percent }: Thresholds,
): Observation {
  const { state, rate, fps, received_fps, analysed_fps } = condition
  const expected = rate === undefined ? received_fps : Math.min(rate, fps ?? rate)
  const kind = 'low_frame_rate'
  if (state !== 'running' || !isCamera(condition)) return { kind, subject, isPresent: undefined, reason: '' }
  // The camera is no longer analysed: an alert about its frame rate ends.
  if (analysed_fps === undefined) return { kind, subject, isPresent: false, reason: '' }
  if (!expected) return { kind, subject, isPresent: undefined, reason: '' }

  const isPresent = analysed_fps < (expected * frame_rate_percent) / 100
  const [analysed, wanted] = [analysed_fps, expected].map(value => Number(value.toFixed(1)))
  const received =
    received_fps === undefined ? '' : `, and the camera sends ${Number(received_fps.toFixed(1))}`
  const reason = `${analysed} frames per second are analysed instead of ${wanted}${received}`
  return { kind, subject, isPresent, reason: isPresent ? reason : '' }
}

function observeRecording({ state, recording }: SourceCondition, subject: Subject): Observation {
  const kind = 'recording_stopped'
  // While the source is lost, the alert about the camera says so.
  if (state !== 'running' && recording?.state !== 'failed')
    return { kind, subject, isPresent: recording ? undefined : false, reason: '' }
  const isIdle = recording?.mode === 'continuous' && recording.state === 'waiting'
  const isPresent = recording?.state === 'failed' || isIdle
  const reason = recording?.reason ?? 'the camera sends pictures, but none are recorded'
  return { kind, subject, isPresent, reason: isPresent ? reason : '' }
}

function observePicture(
  condition: SourceCondition,
  subject: Subject,
  reference: PictureReference | undefined,
  thresholds: Thresholds,
): SourceObservations {
  const { picture } = condition
  const observe = (kind: Observation['kind'], isPresent: boolean | undefined, reason: string) => ({
    kind,
    subject,
    isPresent,
    reason: isPresent ? reason : '',
  })
  const verdict = judgeIfExamined(condition, reference, thresholds)
  return {
    observations: [
      observe('picture_black', verdict.isBlack, 'the picture is black'),
      observe(
        'picture_frozen',
        verdict.isFrozen,
        `the picture has not changed for ${Math.round(picture?.still_s ?? 0)} seconds, not even by noise`,
      ),
      observe('picture_defocused', verdict.isDefocused, 'the picture is less sharp than usual'),
      observe('picture_moved', verdict.hasMoved, 'the camera shows another scene than usual'),
    ],
    reference: verdict.reference,
  }
}

/** Nothing is known about the pictures of a lost camera. Alerts about a camera that is no longer analysed end. */
function judgeIfExamined(
  { state, picture }: SourceCondition,
  reference: PictureReference | undefined,
  thresholds: Thresholds,
): PictureVerdict {
  if (state === 'running' && picture) return judgePicture(picture, reference, thresholds)
  const none = state === 'running' ? false : undefined
  return { isBlack: none, isFrozen: none, isDefocused: none, hasMoved: none, reference }
}
