import { expect, it } from 'vitest'
import { launch } from './launch.fixture.ts'

/** Returns an RTP packet with PCM sound (RFC 3550, section 5.1). */
function createPacket(sequence: number, timestamp: number): Uint8Array {
  const packet = Buffer.alloc(12 + 160)
  packet.writeUInt8(0x80)
  packet.writeUInt8(8, 1)
  packet.writeUInt16BE(sequence, 2)
  packet.writeUInt32BE(timestamp, 4)
  return packet
}

const DEPAYLOADER = 'rtppcmadepay name=depay ! appsink name=sink sync=false async=false'
const CAPS = 'application/x-rtp,media=audio,clock-rate=8000,encoding-name=PCMA,payload=8'

it('the newest packet of a depayloader has both its timestamp and its running time', async () => {
  const { pipeline, message } = launch(
    `appsrc name=source format=time caps=${CAPS} ! ${DEPAYLOADER}`,
  )
  expect(pipeline.newestRtpPacket('depay')).toBeNull()
  let packets = 0
  pipeline.samples('sink', { queue: 8, full: 'block' }, sample => {
    packets += 1
    sample.release()
  })
  await pipeline.setState('playing')
  pipeline.push('source', createPacket(1, 4_294_967_200), { ptsNs: 0 })
  pipeline.push('source', createPacket(2, 64), { ptsNs: 20e6 })
  pipeline.push('source', Uint8Array.of(0x80, 8, 0), { ptsNs: 40e6 })
  pipeline.endOfStream('source')
  await message('eos')
  expect(packets).toBe(2)
  expect(pipeline.newestRtpPacket('depay')).toEqual({
    timestamp: 64,
    runningTicks: 1800,
    clockRate: 8000,
  })
})

it('there is no newest packet of an element that is missing or receives other data', async () => {
  const { pipeline, message } = launch(
    'videotestsrc num-buffers=2 ! identity name=depay ! fakesink',
  )
  await pipeline.setState('playing')
  await message('eos')
  expect(pipeline.newestRtpPacket('depay')).toBeNull()
  expect(pipeline.newestRtpPacket('other')).toBeNull()
})

it('a depayloader in a branch has a newest packet', async () => {
  const { pipeline, message } = launch(
    `appsrc name=source format=time caps=${CAPS} ! tee name=packets packets. ! fakesink sync=false async=false`,
  )
  await pipeline.setState('playing')
  const branch = pipeline.add(`queue ! ${DEPAYLOADER}`, 'packets')
  pipeline.samples('sink', { queue: 8, full: 'block' }, sample => sample.release())
  await branch.start()
  pipeline.push('source', createPacket(1, 500), { ptsNs: 0 })
  pipeline.endOfStream('source')
  await message('eos')
  expect(pipeline.newestRtpPacket('depay')).toEqual({
    timestamp: 500,
    runningTicks: 0,
    clockRate: 8000,
  })
})
