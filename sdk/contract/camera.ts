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

/** A stream that an ONVIF device offers; its address has no credentials in it. */
export const cameraStream = z
  .strictObject({
    name: z.string(),
    profile: z.enum(['s', 't']).meta({ description: 's: ONVIF Media; t: Media2' }),
    codec: z.string().optional(),
    width: z.number().optional(),
    height: z.number().optional(),
    fps: z.number().optional(),
    url: z.string(),
    snapshot_url: z.string().optional(),
  })
  .meta({ id: 'CameraStream' })

/** What a camera was found to be, when it was tested. */
export const cameraReport = z
  .strictObject({
    kind: z.enum(['rtsp', 'http', 'device', 'onvif']),
    url: z.string().meta({ description: 'Of the stream that was tested, without credentials' }),
    device: z
      .strictObject({
        manufacturer: z.string().optional(),
        model: z.string().optional(),
        firmware: z.string().optional(),
      })
      .optional(),
    streams: z.array(cameraStream).optional().meta({ description: 'All that an ONVIF device offers' }),
    codec: z.string(),
    profile: z.string().optional(),
    width: z.int(),
    height: z.int(),
    fps: z.number().optional().meta({ description: 'As measured' }),
    bitrate_kbps: z.int(),
    keyframe_distance_s: z
      .number()
      .optional()
      .meta({ description: 'Absent where no second keyframe came in time' }),
    audio: z.strictObject({ codec: z.string(), sample_rate: z.int().optional() }).optional(),
    packets_lost: z.number().optional().meta({ description: 'Share, 0 to 1, by RTP' }),
    clock: cameraClock,
    first_picture_s: z.number().meta({ description: 'From the beginning of the test to the first picture' }),
    picture: z.string().meta({ description: 'JPEG, in base64' }),
  })
  .meta({ id: 'CameraReport' })
export type CameraReport = z.infer<typeof cameraReport>

/** An ONVIF device that was found; `url` is that of its device service, which can be tested. */
export const discoveredCamera = z
  .strictObject({
    url: z.string(),
    name: z.string().optional(),
    hardware: z.string().optional(),
    location: z.string().optional(),
    profiles: z.array(z.string()).meta({ description: 'ONVIF profiles that it says it has: S, T, …' }),
  })
  .meta({ id: 'FoundCamera' })
export type DiscoveredCamera = z.infer<typeof discoveredCamera>

/** Without a host everybody near is asked, by multicast. */
export const discoveryQuery = z.object({
  host: z
    .string()
    .regex(/^[\w.-]{1,253}(:\d{1,5})?$/, 'a host is a name or an IPv4 address, with a port if need be')
    .optional(),
})
