import type { AddressObject, CameraReport } from '@eyrie/contract'
import {
  type Command,
  JSON_OPTION,
  parseArguments,
  parseChoice,
  UsageError,
} from '../command/command.ts'
import { writeLocalFile } from '../command/local-files.ts'
import { type Output, styled, type Terminal, writeJson, writeTable } from '../command/terminal.ts'
import { connectEngine, ENGINE_OPTIONS } from '../engine/engine-access.ts'

/** `scheme://user:password@` */
const PASSWORD_IN_URL = /^[a-z+]+:\/\/[^/@]*:[^/]*@/i
/** Every picture of these codecs is a keyframe. */
const INTRA_ONLY_CODECS = ['jpeg', 'raw']
/** Smaller differences cannot be distinguished from network delay. */
const MIN_SKEW_S = 0.5
/** Viewers wait for a keyframe, so longer distances are noticeable. */
const MAX_KEYFRAME_DISTANCE_S = 4

/** `eyrie camera discover`: lists the cameras that the engine finds on its networks. */
export const discoverCamerasCommand: Command = {
  usage: '[--host HOST[:PORT]] [--json] [--url URL] [--token TOKEN]',
  about:
    "Finds ONVIF cameras on the engine's networks, or queries a single host. Pass an address it prints to eyrie camera test.",

  async run(args, terminal) {
    const options = { host: { type: 'string' }, ...JSON_OPTION, ...ENGINE_OPTIONS } as const
    const { values } = parseArguments(args, options)
    const cameras = await connectEngine(values, terminal).camera.discover({ host: values.host })

    const { out } = terminal
    if (values.json) return writeJson(out, cameras)
    if (cameras.length === 0) {
      out.write(
        'No camera answered. Enable ONVIF in the camera, or name its address with --host.\n',
      )
      return
    }
    const rows = cameras.map(({ name, hardware, location, profiles, url }) => [
      name ?? '-',
      hardware ?? '-',
      location ?? '-',
      profiles.join(',') || '-',
      url,
    ])
    writeTable(out, [['NAME', 'HARDWARE', 'LOCATION', 'PROFILES', 'ADDRESS'], ...rows])
  },
}

const TEST_OPTIONS = {
  username: { type: 'string' },
  transport: { type: 'string' },
  'tls-insecure': { type: 'boolean' },
  picture: { type: 'string' },
  ...JSON_OPTION,
  ...ENGINE_OPTIONS,
} as const

/** `eyrie camera test`: connects the engine to a camera and prints what the camera delivers. */
export const testCameraCommand: Command = {
  usage:
    '<address> [--username NAME] [--transport auto|tcp|udp] [--tls-insecure] [--picture FILE.jpg] [--json] [--url URL] [--token TOKEN]',
  about:
    'Connects to a camera and reports its streams, or the problem: rtsp://…, http://…, /dev/video0, onvif://host.\n' +
    'The password is read from EYRIE_CAMERA_PASSWORD, because every user of the machine can read a command line.',

  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, TEST_OPTIONS, ['address'])
    const [url] = positionals
    const address = toCameraAddress(url, values, terminal)
    const report = await connectEngine(values, terminal).camera.test(address)

    if (values.json) writeJson(terminal.out, report)
    else printReport(report, terminal.out)
    if (values.picture) await writeLocalFile(values.picture, Buffer.from(report.picture, 'base64'))
  },
}

interface AddressOptions {
  username?: string
  transport?: string
  'tls-insecure'?: boolean
}

/**
 * Converts the arguments of the command to an address. Throws `UsageError` if the URL
 * contains a password.
 */
function toCameraAddress(
  url: string,
  { username, transport, 'tls-insecure': isTlsInsecure }: AddressOptions,
  { environment = {} }: Terminal,
): AddressObject {
  if (PASSWORD_IN_URL.test(url)) {
    throw new UsageError(
      'every user of the machine can read a password in the command line: use --username, and set EYRIE_CAMERA_PASSWORD in the environment',
    )
  }

  const address: AddressObject = { url }
  if (username) {
    address.username = username
    address.password = environment.EYRIE_CAMERA_PASSWORD ?? ''
  }
  if (transport !== undefined) {
    address.transport = parseChoice('transport', transport, ['auto', 'tcp', 'udp'])
  }
  if (isTlsInsecure) address.tls_insecure = true
  return address
}

function printReport(report: CameraReport, out: Output): void {
  out.write(`${styled(out, 'green', 'works')}  ${report.url}\n`)
  const knownProperties = describeStream(report).filter(([, text]) => text !== '')
  const propertyRows = knownProperties.map(([name, text]) => [`  ${name}`, text])
  writeTable(out, propertyRows)

  for (const advice of listAdvice(report)) {
    out.write(`\n${styled(out, 'yellow', 'advice')}  ${advice}\n`)
  }

  const { streams = [], sub_url: subUrl } = report
  if (streams.length === 0) return
  out.write('\n')
  const streamRows = streams.map(({ name, profile, codec, width, height, url }) => [
    name,
    profile.toUpperCase(),
    codec ?? '-',
    width && height ? `${width}×${height}` : '-',
    url,
  ])
  writeTable(out, [['STREAM', 'PROFILE', 'CODEC', 'SIZE', 'ADDRESS'], ...streamRows])
  if (subUrl) {
    out.write(`\nFor a source: "address": {"url": "${report.url}", "sub_url": "${subUrl}"}\n`)
  }
}

/**
 * Describes the tested stream as pairs of name and text. The text is empty for
 * properties that are unknown.
 */
function describeStream(report: CameraReport): [name: string, text: string][] {
  const { device, audio, clock } = report
  const sampleRate = audio?.sample_rate && `${audio.sample_rate} Hz`
  return [
    ['device', joinKnown(' ', device?.manufacturer, device?.model, device?.firmware)],
    ['codec', joinKnown(', ', toCodecName(report.codec), report.profile)],
    ['size', `${report.width}×${report.height}`],
    ['rate', report.fps ? `${report.fps} frames/s, ${report.bitrate_kbps} kbit/s` : ''],
    ['keyframes', describeKeyframes(report)],
    ['B-frames', report.b_frames ? 'yes' : ''],
    ['sound', joinKnown(', ', audio && toCodecName(audio.codec), sampleRate)],
    ['lost', report.packets_lost ? `${Math.round(report.packets_lost * 100)} % of packets` : ''],
    ['clock', describeClock(clock)],
    ['picture', `after ${report.first_picture_s.toFixed(1)} s`],
  ]
}

const CODEC_NAMES: Record<string, string> = {
  h264: 'H.264',
  h265: 'H.265',
  jpeg: 'MJPEG',
  mpeg4: 'MPEG-4',
  mpeg2: 'MPEG-2',
  vp8: 'VP8',
  vp9: 'VP9',
  raw: 'uncompressed',
  aac: 'AAC',
  pcma: 'G.711 A-law',
  pcmu: 'G.711 µ-law',
  opus: 'Opus',
  l16: 'L16',
}

const toCodecName = (codec: string) => CODEC_NAMES[codec] ?? codec

function describeKeyframes({ codec, keyframe_distance_s: distanceS }: CameraReport): string {
  if (INTRA_ONLY_CODECS.includes(codec)) return ''
  return distanceS ? `every ${distanceS} s` : 'fewer than two during the test'
}

/** Describes how the time of the camera's clock compares with the engine's. */
function describeClock({ source, skew_s: skewS }: CameraReport['clock']): string {
  if (skewS === undefined) return 'not sent: pictures are timed by their arrival'
  const reader = source === 'onvif' ? 'read over ONVIF' : 'read from the stream'
  const difference = `${formatDuration(Math.abs(skewS))} ${skewS > 0 ? 'ahead' : 'behind'}`
  const usage = source === 'arrival' ? '; pictures are timed by their arrival' : ''
  return `${Math.abs(skewS) < MIN_SKEW_S ? 'correct' : difference} (${reader}${usage})`
}

/** Formats a duration in its largest suitable unit. */
function formatDuration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds * 10) / 10} s`
  if (seconds < 2 * 3600) return `${Math.round(seconds / 60)} min`
  if (seconds < 2 * 86_400) return `${Math.round(seconds / 360) / 10} hours`
  return `${Math.round(seconds / 86_400)} days`
}

/** Returns the settings of the camera that would improve live views and recordings. */
function listAdvice(report: CameraReport): string[] {
  const {
    codec,
    b_frames: hasBFrames,
    keyframe_distance_s: distanceS = Number.POSITIVE_INFINITY,
  } = report
  const advice: string[] = []
  if (!INTRA_ONLY_CODECS.includes(codec) && distanceS > MAX_KEYFRAME_DISTANCE_S) {
    advice.push(
      'Viewers wait for a keyframe: set the keyframe interval (GOP, I-frame interval) of the camera to 1 or 2 s.',
    )
  }
  if (hasBFrames) {
    advice.push(
      'WebRTC cannot carry B-frames, so live views have more delay: set the number of B-frames to 0 in the camera, or its H.264 profile to Baseline.',
    )
  }
  if (codec === 'h265') {
    advice.push(
      'Browsers without H.265 receive a transcoded live view: H.264 needs no transcoding.',
    )
  } else if (codec !== 'h264') {
    advice.push(
      `${toCodecName(codec)} is transcoded for live views and recordings: H.264 or H.265 needs less of the processor and of the disk.`,
    )
  }
  return advice
}

/** Joins the texts that are present. */
const joinKnown = (separator: string, ...texts: (string | number | undefined)[]) =>
  texts.filter(Boolean).join(separator)
