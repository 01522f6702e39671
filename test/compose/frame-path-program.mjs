import { openSync, readSync, rmSync } from 'node:fs'

// The module of the image, in a container and outside.
const root = process.env.EYRIE_IMAGE ?? ''
const { Pipeline, Ring } = await import(`${root}/opt/eyrie/services/media/node-gst/index.ts`)

// Decodes a video, scales its frames, writes them to a ring and reads them from it, as media and
// engine do, as fast as the machine can: node frame-path-program.mjs <video> <folder of the ring>.
// Prints the processor time of a frame in microseconds.

const [video, folder] = process.argv.slice(2)
const [width, height] = [640, 360]
const path = `${folder}/frame-path.ring`
const ring = new Ring({
  ...{
    path,
    slots: 8,
    width,
    height,
    format: 'RGB',
    content: { x: 0, y: 0, width, height },
    fill: [0],
  },
  ...{ generation: 1, epoch: 1, sourceWidth: 1280, sourceHeight: 720 },
})
const file = openSync(path, 'r')
const picture = Buffer.alloc(width * height * 3)
const ended = Promise.withResolvers()
const pipeline = new Pipeline(
  `filesrc location=${video} ! qtdemux ! h264parse ! avdec_h264 max-threads=1 ! videoscale ! videoconvert ! ` +
    `video/x-raw,format=RGB,width=${width},height=${height} ! identity name=numbered ! appsink name=out sync=false`,
  message => {
    if (message.type === 'eos') ended.resolve()
    if (message.type === 'error') ended.reject(message.error)
  },
)
pipeline.setTimeline({ ptsOffset: 0, timeAnchorUs: 0 })
pipeline.number('numbered', 'src')
let frames = 0
pipeline.toRing('out', ring, () => {
  frames += 1
  readSync(file, picture, 0, picture.length, 4096)
})
const before = process.cpuUsage()
await pipeline.setState('playing')
await ended.promise
const { user, system } = process.cpuUsage(before)
await pipeline.dispose()
ring.close()
rmSync(path, { force: true })
console.log(JSON.stringify({ frames, us: (user + system) / frames }))
process.exit(0)
