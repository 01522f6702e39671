import { isDevelopmentVersion } from '@eyrie/contract/plugin'
import { hashContent } from '@eyrie/plugin-signature/package-files'
import { SIGNATURE_FILE } from '@eyrie/plugin-signature/package-signature'
import type { SigningKey } from '@eyrie/plugin-signature/publisher-keys'
import { type RegistryEntry, signRegistryEntry } from '@eyrie/plugin-signature/registry-entry'
import { readLocalFile } from '../command/local-files.ts'
import { addSignature, signFiles, verifySignature } from '../plugin/package-signing.ts'
import { packFiles } from '../plugin/plugin-archive.ts'
import { type PluginFiles, readPluginFiles } from '../plugin/plugin-files.ts'
import { changeRegistry, writePackage } from './registry-folder.ts'
import { findLatest, type RegistryIndex, toLabel } from './registry-index.ts'

const MAX_DESCRIPTION_LENGTH = 300

/** A signed package, ready to be published. */
interface SignedPackage {
  manifest: PluginFiles['manifest']
  archive: Uint8Array
}

/** The result of a publication. */
interface Publication {
  entry: RegistryEntry
  /** Whether the registry already had the same package. */
  isUnchanged: boolean
}

export interface PublishOptions {
  /** Folder of the registry. */
  folder: string
  signingKey: SigningKey
  /** Whether another publisher, or another key, may have published the plugin there. */
  acceptsNewPublisher: boolean
}

/**
 * Adds the package in a folder or archive to a registry, and signs it if it is not signed. Rejects
 * if it is a development version, if the registry has the same version with other content, or if
 * another publisher has published the plugin and `acceptsNewPublisher` is false.
 */
export async function publishPackage(path: string, options: PublishOptions): Promise<Publication> {
  const { folder, signingKey, acceptsNewPublisher } = options
  const { manifest, archive } = await readSignedPackage(path, signingKey)
  const { name, version } = manifest
  if (isDevelopmentVersion(version)) {
    throw new Error(
      `${name} ${version} is a development version, which changes: publish a version such as 1.0.0`,
    )
  }

  return changeRegistry(folder, async index => {
    const published = index.entries.filter(entry => entry.name === name)
    const existing = published.find(entry => entry.version === version)
    if (existing && existing.sha256 !== hashContent(archive)) {
      throw new Error(
        `${folder} has ${toLabel(existing)} with different content: increment the version`,
      )
    }
    const byOther = published.find(entry => entry.key !== signingKey.key)
    if (byOther && !acceptsNewPublisher) throw new Error(describeOtherPublisher(byOther, folder))

    const entry = existing ?? createEntry({ manifest, archive }, signingKey, index)
    await writePackage(folder, entry, async () => archive)
    return {
      entries: existing ? index.entries : [...index.entries, entry],
      result: { entry, isUnchanged: existing !== undefined },
    }
  })
}

/**
 * Reads a package, and signs it if it is not signed. Rejects if it was changed after it was signed,
 * or is signed with another key.
 */
async function readSignedPackage(path: string, signingKey: SigningKey): Promise<SignedPackage> {
  const { manifest, files, isFolder } = await readPluginFiles(path)
  if (!files.has(SIGNATURE_FILE)) {
    const signature = signFiles(path, files, signingKey)
    return { manifest, archive: await packFiles(addSignature(files, signature)) }
  }

  const signature = verifySignature(path, files)
  if (signature.key !== signingKey.key) {
    const signer = `the key ${signature.key} of ${JSON.stringify(signature.publisher)}`
    throw new Error(
      `${path} is signed with ${signer}, not with that of ${signingKey.publisher}: sign it again`,
    )
  }
  return { manifest, archive: isFolder ? await packFiles(files) : await readLocalFile(path) }
}

function describeOtherPublisher({ name, publisher, key }: RegistryEntry, folder: string): string {
  const owner = `${JSON.stringify(publisher)} with the key ${key}`
  const remedy =
    'choose another name, or add --new-publisher if the plugin has a new publisher or a new key'
  return `${name} in ${folder} is published by ${owner}: ${remedy}`
}

function createEntry(
  { manifest, archive }: SignedPackage,
  signingKey: SigningKey,
  { entries }: RegistryIndex,
): RegistryEntry {
  const { name, version, sdk, license, elements } = manifest
  // An element with the description of another one adds nothing.
  const descriptions = new Set(elements.map(element => element.description.trim()))
  const description = [...descriptions].join('; ').replace(/\s+/g, ' ')
  return signRegistryEntry(
    {
      name,
      version,
      sdk,
      license,
      description: description.slice(0, MAX_DESCRIPTION_LENGTH),
      published: chooseTime(findLatest(entries)[signingKey.key]),
      bytes: archive.length,
      sha256: hashContent(archive),
    },
    signingKey,
  )
}

/**
 * Returns the time of a new entry: the present time, or the next millisecond after the latest entry
 * of the publisher if the clock was ahead when that entry was created. Clients recognize an
 * old index by the time of the latest entry of each publisher.
 */
function chooseTime(latest: string | undefined): string {
  const minMs = latest === undefined ? 0 : Date.parse(latest) + 1
  return new Date(Math.max(Date.now(), minMs)).toISOString()
}
