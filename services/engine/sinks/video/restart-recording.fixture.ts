import { VideoFile } from './video-file.ts'

// Creates a video file at this path over and over, with a header of the given size.
const [path, bytes] = process.argv.slice(2)
const header = Buffer.alloc(Number(bytes))
for (;;) {
  const file = new VideoFile(path!, 1)
  await file.create(header)
  await file.close()
}
