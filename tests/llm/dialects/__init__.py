"""Providers' dialects on the loopback: dry runs of what a paid call would send and receive.

A dialect here is a description in our own words of what its provider documents: address, headers,
fields of a request and of a reply, errors. It was written without the network, from these
documents as they were known in 2026, and is no recording of a provider. No paid call was made: a
provider that deviates from its documentation, or has changed it since, is not found out here.

`chat`: OpenAI API reference, "Create chat completion", and guides "Structured model outputs",
    "Reasoning models" and "Error codes" (platform.openai.com/docs); DeepSeek API docs, "Create
    Chat Completion", "Thinking Mode" and "Error Codes" (api-docs.deepseek.com); OpenRouter docs,
    "API Reference", "Parameters" and "Errors" (openrouter.ai/docs); Google Cloud, Vertex AI, "Call
    MaaS APIs for open models" (cloud.google.com/vertex-ai/generative-ai/docs/maas).
`messages`: Anthropic API, "Messages", "Errors", "Structured outputs", "Extended thinking", and
    "Claude on Vertex AI" (docs.anthropic.com/en/api).
`contents`: Gemini API, "Generating content" (ai.google.dev/api/generate-content), and Vertex AI,
    "Generate content with the Gemini API"
    (cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference).
"""
