import type { Picture } from '../gstreamer/picture.ts'
import type { Branch, Pipeline, Sample, SampleOptions, SampleStream } from '../node-gst/index.ts'

export interface PictureBranchOptions<Size> {
  /** Size of what comes out for such a picture. */
  sizeFor(picture: Picture): Size
  /** Describes the branch, which ends in an appsink, as it begins on another pipeline or with another size. */
  begin(size: Size, picture: Picture): { launch: string; sink: string; options: SampleOptions }
  onSample(sample: Sample): void
}

/** A branch beside the views whose samples are taken. It hangs on one pipeline, and begins anew with another picture. */
export function createPictureBranch<Size>({ sizeFor, begin, onSample }: PictureBranchOptions<Size>) {
  let joined: { pipeline: Pipeline; branch: Branch; samples: SampleStream; shape: string } | undefined

  function part() {
    joined?.samples.close()
    joined = undefined
  }

  async function leave() {
    const branch = joined?.branch
    part()
    await branch?.remove()
  }

  return {
    async join(pipeline: Pipeline, tee: string, picture: Picture): Promise<void> {
      const size = sizeFor(picture)
      const shape = JSON.stringify([size, picture.fps])
      if (joined?.pipeline === pipeline && joined.shape === shape) return
      await leave()
      const { launch, sink, options } = begin(size, picture)
      const branch = pipeline.add(launch, tee)
      const samples = pipeline.samples(sink, options, onSample)
      joined = { pipeline, branch, samples, shape }
      await branch.start()
    },
    part,
    leave,
    pipeline: () => joined?.pipeline,
  }
}
