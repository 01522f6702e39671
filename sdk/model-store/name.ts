import { modelCard } from '@eyrie/contract/model'

/** Throws unless the name can be a folder of the store. */
export function checkName(name: string): void {
  if (!modelCard.shape.name.safeParse(name).success)
    throw new Error(
      `${JSON.stringify(name)} is no name for a model: use a-z, 0-9, ".", "_" and "-", beginning with a letter or digit`,
    )
}
