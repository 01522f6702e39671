import type { AddressObject, CameraReport } from '@eyrie/contract'
import { connect, engineOptions } from '../engine/connect.ts'
import type { Command } from '../eyrie.ts'
import { parse } from '../parse.ts'
import { json, type Output, styled, type Terminal, table, UsageError } from '../terminal.ts'
import { write } from '../write.ts'

export const testCameraCommand: Command = {
  usage:
    '<address> [--username NAME] [--transport auto|tcp|udp] [--tls-insecure] [--picture FILE.jpg] [--json] [--url URL] [--token TOKEN]',
  about:
    'Looks at a camera and says what it is and sends, or what is wrong: rtsp://…, http://…, /dev/video0, onvif://host.\n' +
    'Its password is taken from EYRIE_CAMERA_PASSWORD: a command line can be read by everybody on the machine.',

  async run(args, terminal) {
    const { values, positionals } = parse(
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
    const report = await connect(values, terminal).camera.test(addressOf(positionals[0]!, values, terminal))
    if (values.json) json(terminal.out, report)
    else show(report, terminal.out)
    if (values.picture) await write(values.picture, Buffer.from(report.picture, 'base64'))
  },
}

interface Given {
  username?: string
  transport?: string
  'tls-insecure'?: boolean
}

function addressOf(url: string, given: Given, { environment = {} }: Terminal): AddressObject {
  if (/^[a-z+]+:\/\/[^/@]*:[^/]*@/i.test(url))
    throw new UsageError(
      'a password in the command line can be read by everybody: give --username, and EYRIE_CAMERA_PASSWORD in the environment',
    )
  const { username, transport } = given
  if (transport !== undefined && transport !== 'auto' && transport !== 'tcp' && transport !== 'udp')
    throw new UsageError(`--transport ${transport} should be one of auto, tcp, udp`)
  return {
    url,
    ...(username && { username, password: environment.EYRIE_CAMERA_PASSWORD ?? '' }),
    ...(transport && { transport }),
    ...(given['tls-insecure'] && { tls_insecure: true }),
  }
}

function show(report: CameraReport, out: Output): void {
  const { device, clock, audio, streams = [] } = report
  out.write(`${styled(out, 'green', 'works')}  ${report.url}\n`)
  const made = [device?.manufacturer, device?.model, device?.firmware].filter(Boolean).join(' ')
  const facts: [string, string | undefined][] = [
    ['device', made || undefined],
    ['codec', [report.codec, report.profile].filter(Boolean).join(', ')],
    ['size', `${report.width}×${report.height}`],
    ['rate', report.fps && `${report.fps} frames/s, ${report.bitrate_kbps} kbit/s`],
    ['keyframes', report.keyframe_distance_s ? `every ${report.keyframe_distance_s} s` : 'seldom'],
    [
      'sound',
      audio && [audio.codec, audio.sample_rate && `${audio.sample_rate} Hz`].filter(Boolean).join(', '),
    ],
    ['lost', report.packets_lost ? `${Math.round(report.packets_lost * 100)} % of the packets` : undefined],
    [
      'clock',
      clock.skew_s === undefined ? 'does not tell the time' : `${clock.skew_s} s ahead (${clock.source})`,
    ],
    ['picture', `after ${report.first_picture_s.toFixed(1)} s`],
  ].map(([name, value]) => [name, value || undefined] as [string, string | undefined])
  out.write(table(facts.flatMap(([name, value]) => (value ? [[`  ${name}`, value]] : []))))
  if (streams.length === 0) return
  out.write('\n')
  const rows = streams.map(({ name, profile, codec, width, height, url }) => [
    ...[name, profile.toUpperCase(), codec ?? '-', width && height ? `${width}×${height}` : '-', url],
  ])
  out.write(table([['STREAM', 'PROFILE', 'CODEC', 'SIZE', 'ADDRESS'], ...rows]))
}
