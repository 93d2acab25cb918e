// The names that OpenTelemetry's conventions for generative AI give to vendors.

/** Values of `gen_ai.provider.name`, from OpenTelemetry's attribute registry. */
const providerNames: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'azure-openai': 'azure.ai.openai',
    bedrock: 'aws.bedrock',
    google: 'gcp.gemini',
    mistral: 'mistral_ai',
    moonshot: 'moonshot_ai',
    vertex: 'gcp.vertex_ai',
    xai: 'x_ai',
  }),
)

/** The vendor's own id where the conventions have no name for it; null: no vendor was asked. */
export function providerName(vendor: string | null): string | null {
  return vendor === null ? null : (providerNames.get(vendor) ?? vendor)
}
