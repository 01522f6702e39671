import { VideoFile } from './video-file.ts'

// Begins a recording of this path again and again, with a header of so many bytes.
const [path, bytes] = process.argv.slice(2)
const header = Buffer.alloc(Number(bytes))
for (;;) {
  const file = new VideoFile(path!, 1)
  await file.create(header)
  await file.close()
}
