import type { ViewSpec } from '@eyrie/contract/view'
import type { z } from 'zod'
import type { Frame, FrameResult, Picture } from './frame.ts'
import type { Inference, PictureSize } from './inference.ts'

/** What an element is given when a channel opens it. */
export interface Setup<Args, Config> {
  readonly args: Args
  /** This channel's configuration; undefined where the pipeline has none. */
  readonly config: Config | undefined
  readonly source: { readonly id: number }
  /** The size that an `image-resize` before this element asked for. */
  readonly size: PictureSize | undefined
  /** Present where the manifest needs `inference`. */
  readonly inference: Inference | undefined
  readonly log: Log
}

export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** An element at work in one channel. Frames come in order, one at a time, unless the manifest says `stateless`. */
export interface Element {
  /** The picture it reads, where the manifest needs `pixels`; or that its detector reads. */
  readonly view?: ViewSpec
  /** The picture size that it asks for on behalf of the elements after it. */
  readonly size?: PictureSize
  /** What does not change from frame to frame and is shown with the channel, such as lines and zones. */
  readonly metadata?: Record<string, unknown>
  /** `picture` is there exactly where the manifest needs `pixels`. */
  process(frame: Frame, picture?: Picture): FrameResult | Promise<FrameResult>
  close?(): void
}

/** An element as a plugin writes it; its JSON Schemas in plugin.json are generated from its zod schemas. */
export interface ElementDefinition<Args extends z.ZodType = z.ZodType, Config extends z.ZodType = z.ZodType> {
  readonly args: Args
  readonly config?: Config
  /** What it needs of a frame, and what it adds to one: the catalog shows both, frames are not held to them. */
  readonly input?: z.ZodType
  readonly output?: z.ZodType
  open(setup: Setup<z.output<Args>, z.output<Config>>): Element | Promise<Element>
}

/** A plugin's entry module exports `default definePlugin({...})`, keyed by the element names of its manifest. */
export type PluginDefinition = Record<string, ElementDefinition>

export function defineElement<Args extends z.ZodType, Config extends z.ZodType>(
  definition: ElementDefinition<Args, Config>,
): ElementDefinition<Args, Config> {
  return definition
}

export function definePlugin<Elements extends PluginDefinition>(elements: Elements): Elements {
  return elements
}
