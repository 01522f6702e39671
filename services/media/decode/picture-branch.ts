import type { Picture } from '../gstreamer/picture.ts'
import type { Branch, Pipeline, Sample, SampleOptions, SampleStream } from '../node-gst/index.ts'

/**
 * A branch of a GStreamer pipeline that ends in an appsink, the element from which
 * JavaScript reads samples.
 */
export interface BranchDescription {
  launch: string
  /** Name of the appsink. */
  sink: string
  options: SampleOptions
}

export interface PictureBranchOptions<Size> {
  /** Returns the output size for a decoded picture. */
  getSize(picture: Picture): Size
  /** Returns the branch to create. Called for each new pipeline, output size or frame rate. */
  describeBranch(size: Size, picture: Picture): BranchDescription
  onSample(sample: Sample): void
}

/**
 * Passes decoded pictures, or data encoded from decoded pictures, to JavaScript. The pictures come
 * from a tee, an element of the pipeline that passes them on to several branches.
 */
export interface PictureBranch {
  /**
   * Connects the branch to the tee. Does nothing if the branch is already connected
   * for an equal picture.
   */
  attach(pipeline: Pipeline, tee: string, picture: Picture): Promise<void>
  /** Stops reading samples. Must be called before the pipeline is disposed of. */
  detach(): void
  /** Removes the branch from a pipeline that continues to run. */
  remove(): Promise<void>
  /** Returns the pipeline that the branch is connected to. */
  pipeline(): Pipeline | undefined
}

/** The branch on its current pipeline. */
interface AttachedBranch {
  pipeline: Pipeline
  branch: Branch
  samples: SampleStream
  /** Output size and frame rate, as text for comparison. */
  shape: string
}

export function createPictureBranch<Size>(options: PictureBranchOptions<Size>): PictureBranch {
  let attached: AttachedBranch | undefined

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
      // Samples are read before the branch starts, so that none is missed.
      const samples = pipeline.samples(description.sink, description.options, options.onSample)
      attached = { pipeline, branch, samples, shape }
      await branch.start()
    },
    detach,
    remove,
    pipeline: () => attached?.pipeline,
  }
}
