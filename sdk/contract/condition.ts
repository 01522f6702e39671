import { z } from 'zod'
import { sourceState } from './media.ts'
import { pictureStatistics } from './picture-statistics.ts'
import { recordingMode, recordingState } from './recording.ts'
import { sourceType } from './source.ts'

/**
 * What the management service monitors in order to report failures: how an engine and its sources
 * are doing at the moment, from their frame rates to the free disk space of the machine.
 */

/** Whether a source is recorded, and why not. */
export const sourceRecordingCondition = z.strictObject({
  mode: recordingMode,
  state: recordingState,
  reason: z.string().optional(),
})

/** How one source is doing. Frame rates are in frames per second. */
export const sourceCondition = z
  .strictObject({
    id: z.int(),
    type: sourceType,
    state: sourceState,
    reason: z.string().optional(),
    rate: z.number().optional().meta({ description: 'The maximum frame rate that is configured' }),
    fps: z.number().optional().meta({ description: 'The frame rate that the source declares' }),
    received_fps: z
      .number()
      .optional()
      .meta({ description: 'The frame rate that was received over the last seconds' }),
    analysed_fps: z
      .number()
      .optional()
      .meta({ description: 'The frame rate of the slowest channel over the last seconds' }),
    load: z.number().min(0).optional().meta({
      description:
        'CPU cores that the source and its channels are predicted to need; missing while their cost has not been measured',
    }),
    recording: sourceRecordingCondition
      .optional()
      .meta({ description: 'Missing if recording is off' }),
    picture: pictureStatistics
      .optional()
      .meta({ description: 'Missing while the source is not decoded' }),
  })
  .meta({ id: 'SourceCondition' })
export type SourceCondition = z.infer<typeof sourceCondition>

/** How an engine and its machine are doing, with all its sources. */
export const engineCondition = z
  .strictObject({
    time: z.iso.datetime().meta({ description: 'Clock of the machine' }),
    license_until: z.iso
      .datetime()
      .optional()
      .meta({ description: 'Missing if the license does not expire' }),
    disk: z
      .strictObject({ free_bytes: z.int(), total_bytes: z.int() })
      .optional()
      .meta({ description: 'Disk of the data folder. Missing if it cannot be measured' }),
    outage: z.string().optional().meta({
      description:
        'Why the engine plays no source, for example because its media service is unreachable',
    }),
    capacity: z
      .strictObject({ cores: z.number().min(0), used: z.number().min(0) })
      .optional()
      .meta({
        description:
          'cores: CPU cores that channels may use; used: cores that they are predicted to need',
      }),
    sources: z.array(sourceCondition),
  })
  .meta({ id: 'EngineCondition' })
export type EngineCondition = z.infer<typeof engineCondition>
