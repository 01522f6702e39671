import { VideoFile } from './video-file.ts'

/** Creates a video file at the given path over and over, with a header of the given size. */
const [path, headerBytes] = process.argv.slice(2)
const header = Buffer.alloc(Number(headerBytes))
for (;;) {
  const file = new VideoFile(path!, 1)
  await file.create(header)
  await file.close()
}
