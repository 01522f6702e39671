import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'

const pictures = {
  h264: 'x264enc tune=zerolatency speed-preset=ultrafast key-int-max=25 ! h264parse',
  jpeg: 'jpegenc',
}
const sounds = {
  aac: 'audio/x-raw,rate=44100,channels=2 ! avenc_aac ! aacparse',
  mulaw: 'audio/x-raw,rate=8000,channels=1 ! mulawenc',
  opus: 'audio/x-raw,rate=48000,channels=1 ! opusenc ! opusparse',
}

interface Clip {
  picture?: keyof typeof pictures
  sound?: keyof typeof sounds | undefined
  seconds?: number
}

const SAMPLE_RATE = 48_000
/** The test source emits ticks one buffer early, so buffers are small. */
const SAMPLES_PER_BUFFER = 20

/** Creates a file with a tick every second, by default ten seconds long. */
export function makeClip({ picture = 'h264', sound, seconds = 10 }: Clip = {}): string {
  const path = join(createTemporaryFolder(), 'clip.mkv')
  const video = `videotestsrc num-buffers=${seconds * 25} ! video/x-raw,width=160,height=120,framerate=25/1 ! ${pictures[picture]} ! mux.`
  const buffers = (seconds * SAMPLE_RATE) / SAMPLES_PER_BUFFER
  const ticks = `audiotestsrc wave=ticks samplesperbuffer=${SAMPLES_PER_BUFFER} num-buffers=${buffers} ! audio/x-raw,rate=${SAMPLE_RATE} ! audioconvert ! audioresample`
  const audio = sound ? `${ticks} ! ${sounds[sound]} ! mux.` : ''
  const launch = `matroskamux name=mux ! filesink location=${path} ${video} ${audio}`
  execFileSync('gst-launch-1.0', ['-q', ...launch.trim().split(/\s+/)])
  return path
}
