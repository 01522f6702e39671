import { z } from 'zod'

/**
 * By whose clock the absolute time of pictures is told: `rtcp` by the camera's, from its sender reports, corrected by
 * `skew_s`; `arrival` by this machine's when they come; `sender` by that of the machine which they come from, or by the
 * `X-Pts` of its stream. `skew_s`: seconds by which the camera's clock is ahead of this machine's.
 */
export const cameraClock = z
  .strictObject({ source: z.enum(['rtcp', 'onvif', 'arrival', 'sender']), skew_s: z.number().optional() })
  .meta({ id: 'CameraClock' })
export type CameraClock = z.infer<typeof cameraClock>
