"""Models: the `ChatModel` protocol, one file per endpoint kind, and the one gate every call passes."""

from medjury.doors import on_demand

with on_demand(__name__):
    from medjury.models._answer import Answer
    from medjury.models._answering import DEPLOYMENTS, NOT_TOLD, asked_name, is_deployment, same_model
    from medjury.models._batches.batch_job import Job, JobCall, JobJournal, PendingError
    from medjury.models._batches.desk import Batches
    from medjury.models._chat import ChatModel, Message, ModelError, Reply, Request
    from medjury.models._embedded.embedded import EmbeddedModel
    from medjury.models._embedded.weights import NAME as EMBEDDED
    from medjury.models._embedded.weights import pull_weights, weights_file
    from medjury.models._endpoint_check import EndpointCheck, check_endpoint
    from medjury.models._finish import Finish, why_unfinished
    from medjury.models._gate.audit import AuditLog
    from medjury.models._gate.audit_chain import (
        AuditError,
        AuditTotals,
        audit_replies,
        audit_totals,
        entry_hash,
        verify_audit_log,
    )
    from medjury.models._gate.budget import Budget, Reservation
    from medjury.models._gate.cache import SECRET_BYTES, MemoryCache, ReplyCache, request_key
    from medjury.models._gate.context import ContextError, clearly_too_long, excess_tokens, require_fit
    from medjury.models._gate.context_windows import context_window
    from medjury.models._gate.gate import Gate
    from medjury.models._gate.limits import Limits, Pace
    from medjury.models._gate.request_log import RequestLog
    from medjury.models._gate.stopping import StoppedError
    from medjury.models._hosts import forbidden, host_of, is_local, normal_hosts
    from medjury.models._in_process.bits import loading_options, refuse_bits_without_libraries, split_bits
    from medjury.models._in_process.folder import folder_fingerprint
    from medjury.models._in_process.transformers_model import TransformersModel
    from medjury.models._in_process.vllm_model import VllmModel
    from medjury.models._in_process.weights import quiet_library, read_whole, reading_weights, refuse_pickled
    from medjury.models._openai.openai import OpenAIModel
    from medjury.models._prices import Price, PriceList
    from medjury.models._recorded.answer_file import AnswerFile, RecordedAs, RecordedFailure, write_answers
    from medjury.models._recorded.failure import failure_of, failure_text
    from medjury.models._recorded.recorded import RecordedModel
    from medjury.models._registry import KINDS, kinds_content, kinds_text, make_model
    from medjury.models._scripted import Scripted
    from medjury.models._sdks.anthropic import AnthropicModel
    from medjury.models._sdks.google import GoogleModel
    from medjury.models._tokens import TOKEN_BYTES, cautious_tokens, estimate_tokens, most_tokens

__all__ = [
    "DEPLOYMENTS",
    "EMBEDDED",
    "KINDS",
    "NOT_TOLD",
    "SECRET_BYTES",
    "TOKEN_BYTES",
    "Answer",
    "AnswerFile",
    "AnthropicModel",
    "AuditError",
    "AuditLog",
    "AuditTotals",
    "Batches",
    "Budget",
    "ChatModel",
    "ContextError",
    "EmbeddedModel",
    "EndpointCheck",
    "Finish",
    "Gate",
    "GoogleModel",
    "Job",
    "JobCall",
    "JobJournal",
    "Limits",
    "MemoryCache",
    "Message",
    "ModelError",
    "OpenAIModel",
    "Pace",
    "PendingError",
    "Price",
    "PriceList",
    "RecordedAs",
    "RecordedFailure",
    "RecordedModel",
    "Reply",
    "ReplyCache",
    "Request",
    "RequestLog",
    "Reservation",
    "Scripted",
    "StoppedError",
    "TransformersModel",
    "VllmModel",
    "asked_name",
    "audit_replies",
    "audit_totals",
    "cautious_tokens",
    "check_endpoint",
    "clearly_too_long",
    "context_window",
    "entry_hash",
    "estimate_tokens",
    "excess_tokens",
    "failure_of",
    "failure_text",
    "folder_fingerprint",
    "forbidden",
    "host_of",
    "is_deployment",
    "is_local",
    "kinds_content",
    "kinds_text",
    "loading_options",
    "make_model",
    "most_tokens",
    "normal_hosts",
    "pull_weights",
    "quiet_library",
    "read_whole",
    "reading_weights",
    "refuse_bits_without_libraries",
    "refuse_pickled",
    "request_key",
    "require_fit",
    "same_model",
    "split_bits",
    "verify_audit_log",
    "weights_file",
    "why_unfinished",
    "write_answers",
]
