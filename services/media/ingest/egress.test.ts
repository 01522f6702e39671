import type { AddressObject, DesiredSource, SourceStatus } from '@eyrie/contract'
import { describe, expect, it } from 'vitest'
import { startHttpCamera } from '../../../test/fixtures/cameras/http-camera.ts'
import { createDesiredSource, createViewSpec } from '../../../test/fixtures/media/control-client.ts'
import { serveMedia } from '../../../test/fixtures/media/served-media.ts'
import { startTcpServer } from '../../../test/fixtures/network/tcp-server.ts'

const views = { grey: createViewSpec({ format: 'GRAY8', width: 64 }) }
const isLost = ({ state, reason }: SourceStatus) => state !== 'running' && reason !== undefined
const isRunning = ({ state }: SourceStatus) => state === 'running'

/** Plays a source until it has this state. */
async function play(address: AddressObject, until = isLost, type: DesiredSource['type'] = 'video') {
  const media = await serveMedia()
  const control = await media.connectControl()
  await control.apply(createDesiredSource({ id: 1, type, address, views, decoder: 'gst' }))
  return control.waitForStatus(1, until)
}

/** Starts a TCP server. `answer` returns the response to each chunk that a client sends. */
async function listen(answer: (request: string) => string = () => '') {
  const received: string[] = []
  const { port } = await startTcpServer(socket =>
    socket.on('data', data => {
      received.push(String(data))
      socket.write(answer(String(data)))
    }),
  )
  return { port, received }
}

describe('an HTTP camera', () => {
  it.each([{}, { token: 'bearer' }, { username: 'viewer', password: 'secret' }])(
    'that redirects to another server is not followed with %j',
    async credentials => {
      const other = await startHttpCamera()
      const { url } = await startHttpCamera({
        answers: {
          '/live.mp4': response =>
            response.writeHead(302, { Location: other.url('/live.mp4') }).end(),
        },
      })
      const { reason } = await play({ url: url('/live.mp4'), ...credentials })
      expect(reason).toContain('redirects to another address, which is not followed')
      expect(other.requests).toEqual([])
    },
  )

  it('that redirects to another of its paths is followed, with its credentials', async () => {
    const { url, requests } = await startHttpCamera({
      token: 'bearer',
      answers: {
        '/': response => response.writeHead(302, { Location: '/video.mjpg?size=1' }).end(),
      },
    })
    await play({ url: url('/'), token: 'bearer' }, isRunning)
    expect(requests.map(({ path }) => path)).toEqual([
      '/',
      '/video.mjpg?size=1',
      '/video.mjpg?size=1',
    ])
  })

  it('receives the host name of its address', async () => {
    const hosts: (string | undefined)[] = []
    const { port } = await startHttpCamera({
      answers: {
        '/': (response, { headers }) => {
          hosts.push(headers.host)
          response.writeHead(404).end()
        },
      },
    })
    await play({ url: `http://localhost:${port}/` })
    expect(new Set(hosts)).toEqual(new Set([`localhost:${port}`]))
  })

  const segment = (url: string) => `${url}/segment.ts`
  it.each([
    [
      'HLS',
      'application/vnd.apple.mpegurl',
      (url: string) => `#EXTM3U
#EXT-X-VERSION:3
#EXT-X-TARGETDURATION:10
#EXT-X-MEDIA-SEQUENCE:0
#EXTINF:10.0,
${segment(url)}
#EXTINF:10.0,
${segment(url)}
`,
    ],
    [
      'DASH',
      'application/dash+xml',
      (url: string) => `<?xml version="1.0"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT10S" minBufferTime="PT1S" profiles="urn:mpeg:dash:profile:isoff-main:2011">
<Period><AdaptationSet mimeType="video/mp4"><Representation id="1" bandwidth="1000" codecs="avc1.42c00d" width="320" height="240">
<BaseURL>${url}/</BaseURL><SegmentList duration="10"><Initialization sourceURL="init.mp4"/><SegmentURL media="segment.ts"/></SegmentList>
</Representation></AdaptationSet></Period></MPD>`,
    ],
    [
      'Smooth Streaming',
      'application/vnd.ms-sstr+xml',
      () => `<?xml version="1.0"?>
<SmoothStreamingMedia MajorVersion="2" MinorVersion="0" Duration="100000000">
<StreamIndex Type="video" QualityLevels="1" Chunks="1" Url="QualityLevels({bitrate})/Fragments(video={start time})">
<QualityLevel Index="0" Bitrate="1000" FourCC="H264" MaxWidth="320" MaxHeight="240" CodecPrivateData="000000016742C00D"/>
<c d="100000000"/></StreamIndex></SmoothStreamingMedia>`,
    ],
  ])(
    'that sends an %s manifest does not make media request its segments',
    async (_, type, manifest) => {
      const other = await listen()
      const { url, requests } = await startHttpCamera({
        answers: {
          '/live': response => {
            response.setHeader('Content-Type', type).end(manifest(`http://127.0.0.1:${other.port}`))
          },
        },
      })
      const { reason } = await play({ url: url('/live') })
      expect(reason).toContain(`sends an HLS, DASH or Smooth Streaming manifest (${type})`)
      expect(other.received).toEqual([])
      expect(new Set(requests.map(({ path }) => path))).toEqual(new Set(['/live']))
    },
  )
})

describe('an RTSP camera', () => {
  it.each(['OPTIONS', 'DESCRIBE'])(
    'that redirects to another server in its answer to %s is not followed',
    async method => {
      const other = await listen()
      const camera = await listen(request => {
        const cseq = /CSeq: *(\d+)/i.exec(request)?.[1] ?? '0'
        const status = request.startsWith(method) ? '302 Found' : '200 OK'
        const location = `Location: rtsp://127.0.0.1:${other.port}/api/v3/configuration`
        return `RTSP/1.0 ${status}\r\nCSeq: ${cseq}\r\nPublic: OPTIONS, DESCRIBE, SETUP, PLAY\r\n${location}\r\n\r\n`
      })
      const { reason } = await play({
        url: `rtsp://127.0.0.1:${camera.port}/live`,
        transport: 'tcp',
      })
      expect(reason).toContain('redirects to another host: use the final address instead')
      expect(camera.received[0]).toMatch(/^OPTIONS /)
      expect(other.received).toEqual([])
    },
  )
})

describe('sources', () => {
  it.each([
    ['rtsp://127.0.0.1:8100/', 'video'],
    ['rtsp://localhost:8080/', 'video'],
    ['rtsp://2130706433:8200/', 'video'],
    ['rtsp://[::ffff:127.0.0.1]:8200/', 'video'],
    ['http://127.0.0.1:8100/api/v3/configuration', 'video'],
    ['http://0x7f.1:8200/streams/1', 'hosted_video'],
    ['tcp://127.0.0.1:8100', 'zmq'],
  ] as const)('do not reach the services of the appliance at %s', async (url, type) => {
    const { reason } = await play({ url }, isLost, type)
    expect(reason).toContain('is a service of this appliance, and no camera may be there')
  })

  it.each([
    ['rtsp://169.254.169.254/', 'video'],
    ['http://169.254.169.254/latest/meta-data/', 'video'],
    ['http://[::ffff:a9fe:a9fe]/', 'hosted_video'],
    ['tcp://169.254.169.254:80', 'zmq'],
  ] as const)('do not reach the metadata service at %s', async (url, type) => {
    const { reason } = await play({ url }, isLost, type)
    expect(reason).toContain('is a metadata address, and no camera may be there')
  })
})

describe('a camera test', () => {
  it.each([
    'onvif://127.0.0.1:8100',
    'http://127.0.0.1:8080/onvif/device_service',
    'rtsp://127.0.0.1:8200/',
  ])('does not reach the services of the appliance at %s', async url => {
    const media = await serveMedia()
    const body = JSON.stringify({ url })
    const response = await fetch(`${media.url}/cameras/test`, { method: 'POST', body })
    expect(await response.json()).toMatchObject({
      code: 'camera',
      reason: expect.stringContaining('is a service of this appliance'),
    })
  })

  it('does not probe a denied host for ONVIF', async () => {
    const media = await serveMedia()
    const response = await fetch(`${media.url}/cameras/discover?host=169.254.169.254`)
    expect(await response.json()).toMatchObject({
      code: 'camera',
      reason: expect.stringContaining('is a metadata address'),
    })
  })
})
