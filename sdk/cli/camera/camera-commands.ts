import type { AddressObject, CameraReport } from '@eyrie/contract'
import { type Command, parseArguments, UsageError } from '../command/command.ts'
import { writeLocalFile } from '../command/local-files.ts'
import { formatTable, type Output, styled, type Terminal, writeJson } from '../command/terminal.ts'
import { connectEngine, engineOptions } from '../engine/engine-access.ts'

export const discoverCamerasCommand: Command = {
  usage: '[--host HOST[:PORT]] [--json] [--url URL] [--token TOKEN]',
  about:
    "Finds ONVIF cameras on the engine's networks, or queries a single host. Pass an address it prints to eyrie camera test.",

  async run(args, terminal) {
    const options = { host: { type: 'string' }, json: { type: 'boolean' }, ...engineOptions } as const
    const { values } = parseArguments(args, options, [])
    const cameras = await connectEngine(values, terminal).camera.discover({ host: values.host })
    if (values.json) return writeJson(terminal.out, cameras)
    if (cameras.length === 0)
      return void terminal.out.write(
        'No camera answered. Enable ONVIF in the camera, or name its address with --host.\n',
      )
    const rows = cameras.map(({ name, hardware, location, profiles, url }) => [
      ...[name ?? '-', hardware ?? '-', location ?? '-', profiles.join(',') || '-', url],
    ])
    terminal.out.write(formatTable([['NAME', 'HARDWARE', 'LOCATION', 'PROFILES', 'ADDRESS'], ...rows]))
  },
}

export const testCameraCommand: Command = {
  usage:
    '<address> [--username NAME] [--transport auto|tcp|udp] [--tls-insecure] [--picture FILE.jpg] [--json] [--url URL] [--token TOKEN]',
  about:
    'Connects to a camera and reports its streams, or the problem: rtsp://…, http://…, /dev/video0, onvif://host.\n' +
    'The password is read from EYRIE_CAMERA_PASSWORD, because every user of the machine can read a command line.',

  async run(args, terminal) {
    const { values, positionals } = parseArguments(
      args,
      {
        username: { type: 'string' },
        transport: { type: 'string' },
        'tls-insecure': { type: 'boolean' },
        picture: { type: 'string' },
        json: { type: 'boolean' },
        ...engineOptions,
      },
      ['address'],
    )
    const address = toCameraAddress(positionals[0]!, values, terminal)
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

function toCameraAddress(
  url: string,
  options: AddressOptions,
  { environment = {} }: Terminal,
): AddressObject {
  if (/^[a-z+]+:\/\/[^/@]*:[^/]*@/i.test(url))
    throw new UsageError(
      'every user of the machine can read a password in the command line: use --username, and set EYRIE_CAMERA_PASSWORD in the environment',
    )
  const { username, transport } = options
  if (transport !== undefined && transport !== 'auto' && transport !== 'tcp' && transport !== 'udp')
    throw new UsageError(`--transport ${transport} should be one of auto, tcp, udp`)
  return {
    url,
    ...(username && { username, password: environment.EYRIE_CAMERA_PASSWORD ?? '' }),
    ...(transport && { transport }),
    ...(options['tls-insecure'] && { tls_insecure: true }),
  }
}

function printReport(report: CameraReport, out: Output): void {
  const { device, clock, audio, streams = [] } = report
  out.write(`${styled(out, 'green', 'works')}  ${report.url}\n`)
  const properties: [name: string, value: string | number | undefined][] = [
    ['device', [device?.manufacturer, device?.model, device?.firmware].filter(Boolean).join(' ')],
    ['codec', [report.codec, report.profile].filter(Boolean).join(', ')],
    ['size', `${report.width}×${report.height}`],
    ['rate', report.fps && `${report.fps} frames/s, ${report.bitrate_kbps} kbit/s`],
    ['keyframes', report.keyframe_distance_s ? `every ${report.keyframe_distance_s} s` : 'rare'],
    [
      'sound',
      audio && [audio.codec, audio.sample_rate && `${audio.sample_rate} Hz`].filter(Boolean).join(', '),
    ],
    ['lost', report.packets_lost ? `${Math.round(report.packets_lost * 100)} % of packets` : undefined],
    ['clock', clock.skew_s === undefined ? 'unknown' : `${clock.skew_s} s ahead (${clock.source})`],
    ['picture', `after ${report.first_picture_s.toFixed(1)} s`],
  ]
  out.write(formatTable(properties.flatMap(([name, value]) => (value ? [[`  ${name}`, String(value)]] : []))))
  if (streams.length === 0) return
  out.write('\n')
  const rows = streams.map(({ name, profile, codec, width, height, url }) => [
    ...[name, profile.toUpperCase(), codec ?? '-', width && height ? `${width}×${height}` : '-', url],
  ])
  out.write(formatTable([['STREAM', 'PROFILE', 'CODEC', 'SIZE', 'ADDRESS'], ...rows]))
}
