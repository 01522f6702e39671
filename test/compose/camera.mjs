import { spawn } from 'node:child_process'
import { createServer } from 'node:http'

// A camera in a container of its own, from the image of media: sends the demo scene as MPEG-TS over
// HTTP, again and again.

const VIDEO = process.argv[2]
const PIPELINE = `filesrc location=${VIDEO} ! qtdemux ! h264parse config-interval=-1 ! identity sync=true ! mpegtsmux ! fdsink`

createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'video/mp2t' })
  const sender = spawn('gst-launch-1.0', ['--quiet', ...PIPELINE.split(' ')])
  sender.stdout.pipe(response)
  response.on('close', () => sender.kill())
}).listen(8000)
