import { z } from 'zod'
import { sourceState } from './media.ts'
import { pictureStatistics } from './picture-statistics.ts'
import { recordingMode, recordingState } from './recording.ts'
import { sourceType } from './source.ts'

/** The condition of an engine and its sources, which management monitors in order to report failures. */

/** The state of the recording of a source. */
export const sourceRecordingCondition = z.strictObject({
  mode: recordingMode,
  state: recordingState,
  reason: z.string().optional(),
})

/** The condition of one source. Frame rates are in frames per second. */
export const sourceCondition = z
  .strictObject({
    id: z.int(),
    type: sourceType,
    state: sourceState,
    reason: z.string().optional(),
    rate: z.number().optional().meta({ description: 'The configured maximum frame rate' }),
    fps: z.number().optional().meta({ description: 'The frame rate that the source declares' }),
    received_fps: z.number().optional().meta({ description: 'Received over the last seconds' }),
    analysed_fps: z
      .number()
      .optional()
      .meta({ description: 'Analysed over the last seconds, by the slowest channel' }),
    load: z.number().min(0).optional().meta({
      description:
        'CPU cores that the source and its channels are predicted to need; missing while their cost has not been measured',
    }),
    recording: sourceRecordingCondition.optional().meta({ description: 'Missing if recording is off' }),
    picture: pictureStatistics.optional().meta({ description: 'Missing while the source is not decoded' }),
  })
  .meta({ id: 'SourceCondition' })
export type SourceCondition = z.infer<typeof sourceCondition>

/** The condition of an engine. */
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
      description: 'Why the engine plays no source, for example because its media service is unreachable',
    }),
    capacity: z
      .strictObject({ cores: z.number().min(0), used: z.number().min(0) })
      .optional()
      .meta({
        description: 'CPU cores that channels may use, and the cores that they are predicted to need',
      }),
    sources: z.array(sourceCondition),
  })
  .meta({ id: 'EngineCondition' })
export type EngineCondition = z.infer<typeof engineCondition>
