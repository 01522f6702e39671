import type { SourceCondition } from '@eyrie/contract/condition'
import type { MediaClient } from '../media/media-client.ts'
import type { SourcePlan } from '../plan/plan.ts'

/** Describes the condition of a source. `analysedRates`: the frame rate of each of its channels. */
export function describeSource(
  { id, type, rate, recording }: SourcePlan,
  media: Pick<MediaClient, 'status' | 'condition'>,
  analysedRates: readonly number[],
): SourceCondition {
  const status = media.status(id)
  const condition = media.condition(id)
  const fps = status?.sub?.analysed ? status.sub.fps : status?.fps
  return {
    id,
    type,
    state: status?.state ?? 'connecting',
    ...(status?.reason && { reason: status.reason }),
    ...(rate !== undefined && { rate }),
    ...(fps !== undefined && { fps }),
    ...(condition && { received_fps: condition.received_fps }),
    ...(analysedRates.length > 0 && { analysed_fps: Math.min(...analysedRates) }),
    ...(recording &&
      condition?.recording && { recording: { mode: recording.mode, ...condition.recording } }),
    ...(condition?.picture && { picture: condition.picture }),
  }
}
