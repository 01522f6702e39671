import type { Picture } from '../gstreamer/picture.ts'
import type { Branch, Pipeline, Sample, SampleOptions, SampleStream } from '../node-gst/index.ts'

/** A branch that ends in an appsink. */
export interface BranchDescription {
  launch: string
  /** Name of the appsink. */
  sink: string
  options: SampleOptions
}

export interface PictureBranchOptions<Size> {
  /** Returns the output size for a decoded picture. */
  getSize(picture: Picture): Size
  /** Describes the branch. Called for each new pipeline, output size or frame rate. */
  describeBranch(size: Size, picture: Picture): BranchDescription
  onSample(sample: Sample): void
}

/** Passes samples of decoded pictures to JavaScript. */
export interface PictureBranch {
  /** Connects to the tee, unless already connected for an equal picture. */
  attach(pipeline: Pipeline, tee: string, picture: Picture): Promise<void>
  /** Stops reading samples, before the pipeline is disposed of together with the branch. */
  detach(): void
  /** Removes the branch from a pipeline that continues to run. */
  remove(): Promise<void>
  /** Returns the pipeline that the branch is attached to. */
  pipeline(): Pipeline | undefined
}

export function createPictureBranch<Size>(options: PictureBranchOptions<Size>): PictureBranch {
  let attached: { pipeline: Pipeline; branch: Branch; samples: SampleStream; shape: string } | undefined

  function detach() {
    attached?.samples.close()
    attached = undefined
  }

  async function remove() {
    const branch = attached?.branch
    detach()
    await branch?.remove()
  }

  return {
    async attach(pipeline, tee, picture) {
      const size = options.getSize(picture)
      const shape = JSON.stringify([size, picture.fps])
      if (attached?.pipeline === pipeline && attached.shape === shape) return
      await remove()
      const description = options.describeBranch(size, picture)
      const branch = pipeline.add(description.launch, tee)
      const samples = pipeline.samples(description.sink, description.options, options.onSample)
      attached = { pipeline, branch, samples, shape }
      await branch.start()
    },
    detach,
    remove,
    pipeline: () => attached?.pipeline,
  }
}
