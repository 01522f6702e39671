import { z } from 'zod'

/**
 * Cameras in the engine API: the report of a camera test, and the cameras that a search
 * of the network finds.
 */

/** The clock from which the capture time of frames is derived. */
export const cameraClock = z
  .strictObject({
    source: z.enum(['rtcp', 'onvif', 'arrival', 'sender']).meta({
      description: [
        "rtcp, onvif: the camera's clock, corrected by skew_s",
        "arrival: this machine's clock when the frame arrives",
        'sender: the clock of the sending instance, or the X-Pts header of the stream',
      ].join('; '),
    }),
    skew_s: z.number().optional().meta({
      description: "Seconds by which the camera's clock is ahead of this machine's clock",
    }),
  })
  .meta({ id: 'CameraClock' })
export type CameraClock = z.infer<typeof cameraClock>

/** A stream that an ONVIF device offers. */
export const cameraStream = z
  .strictObject({
    name: z.string(),
    profile: z
      .enum(['s', 't'])
      .meta({ description: 's: ONVIF Media service; t: ONVIF Media2 service' }),
    codec: z.string().optional(),
    width: z.number().optional(),
    height: z.number().optional(),
    fps: z.number().optional().meta({ description: 'Configured frame rate' }),
    url: z.string().meta({ description: 'Without credentials' }),
    snapshot_url: z.string().optional(),
  })
  .meta({ id: 'CameraStream' })

/** The result of a camera test. */
export const cameraReport = z
  .strictObject({
    kind: z.enum(['rtsp', 'http', 'device', 'onvif']).meta({
      description:
        'How the camera was tested; device: a video device of this machine, such as a webcam',
    }),
    url: z.string().meta({ description: 'URL of the tested stream, without credentials' }),
    sub_url: z.string().optional().meta({
      description: 'URL of a smaller stream of the same ONVIF camera, for sub_url of a source',
    }),
    device: z
      .strictObject({
        manufacturer: z.string().optional(),
        model: z.string().optional(),
        firmware: z.string().optional(),
      })
      .optional()
      .meta({ description: 'What an ONVIF device reports about itself' }),
    streams: z
      .array(cameraStream)
      .optional()
      .meta({ description: 'All streams of an ONVIF device' }),
    codec: z.string().meta({ description: 'Codec of the tested stream, such as h264' }),
    profile: z.string().optional().meta({ description: 'Profile of the codec' }),
    width: z.int(),
    height: z.int(),
    fps: z.number().optional().meta({ description: 'Measured frame rate' }),
    bitrate_kbps: z.int().meta({ description: 'Measured bit rate' }),
    keyframe_distance_s: z.number().optional().meta({
      description: 'Seconds between keyframes; absent if only one keyframe arrived during the test',
    }),
    b_frames: z.boolean().optional().meta({
      description: 'Whether H.264 has B-frames, which WebRTC cannot carry; absent for other codecs',
    }),
    audio: z
      .strictObject({ codec: z.string(), sample_rate: z.int().optional() })
      .optional()
      .meta({ description: 'Absent if the camera sends no audio' }),
    packets_lost: z.number().optional().meta({ description: 'Share of lost RTP packets, 0 to 1' }),
    clock: cameraClock,
    first_picture_s: z
      .number()
      .meta({ description: 'Seconds from the start of the test to the first picture' }),
    picture: z.string().meta({ description: 'JPEG, base64-encoded' }),
  })
  .meta({ id: 'CameraReport' })
export type CameraReport = z.infer<typeof cameraReport>

/** An ONVIF device on the network. */
export const discoveredCamera = z
  .strictObject({
    url: z
      .string()
      .meta({ description: 'URL of the device service, which can be passed to the camera test' }),
    name: z.string().optional(),
    hardware: z.string().optional(),
    location: z.string().optional(),
    profiles: z
      .array(z.string())
      .meta({ description: 'ONVIF profiles that the device announces: S, T, …' }),
  })
  .meta({ id: 'FoundCamera' })
export type DiscoveredCamera = z.infer<typeof discoveredCamera>

/** Query of a search for cameras. */
export const discoveryQuery = z.object({
  host: z
    .string()
    .regex(
      /^[\w.-]{1,253}(:\d{1,5})?$/,
      'must be a host name or IPv4 address, optionally with a port',
    )
    .optional()
    .meta({ description: 'Host to query; without it the local network is searched by multicast' }),
})
